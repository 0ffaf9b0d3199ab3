export const loadAdd = () => import('./add-endpoint-dialog.tsx')
export const loadMapping = () => import('./mapping-dialog.tsx')
export const loadRemoval = () => import('../remove/remove-endpoint-dialog.tsx')

/** Preloads the forms. Load errors are reported when a form is opened. */
export function preloadForms(): void {
  for (const load of [loadAdd, loadMapping, loadRemoval]) load().catch(() => {})
}
