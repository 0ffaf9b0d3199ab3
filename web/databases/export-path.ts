/** Returns the path that downloads a whole database. */
export const exportPath = (database: string): string =>
  `/_db/${encodeURIComponent(database)}/_export`
