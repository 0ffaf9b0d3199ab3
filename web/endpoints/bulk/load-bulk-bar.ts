/** Loads the bar of bulk changes. Call it before a change that disconnects the page. */
export const loadBulkBar = () => import('./bulk-bar.tsx')
