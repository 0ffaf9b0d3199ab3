/** Thrown if documents have changed since they were read. */
export class StateChanged extends Error {}

/** Thrown if documents and their index entries are too many for one transaction. */
export class TooManyRows extends Error {}
