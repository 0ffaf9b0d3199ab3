import { createContext, type ReactNode } from 'react'

/**
 * The banner shown in every dialog, because a dialog covers the page's own. A separate module,
 * because the code of the dialog is loaded on first use.
 */
export const DialogBanner = createContext<ReactNode>(null)
