export const loadAddDialog = () => import('./form/add-endpoint-dialog.tsx')
export const loadMappingDialog = () => import('./form/mapping-dialog.tsx')
export const loadRemovalDialog = () => import('./form/remove-endpoint-dialog.tsx')
export const loadPortDialog = () => import('./form/change-port-dialog.tsx')
export const loadPolicyDialogs = () => import('./form/policy-dialogs.tsx')

/** Preloads the forms. Load errors are reported when a form is opened. */
export function preloadForms(): void {
  const all = [
    loadAddDialog,
    loadMappingDialog,
    loadRemovalDialog,
    loadPortDialog,
    loadPolicyDialogs,
  ]
  for (const load of all) load().catch(() => {})
}
