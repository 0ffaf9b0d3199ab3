import { createContext, type ReactNode } from 'react'

/**
 * What is said above whatever page or dialog there is: a dialog covers the page, so what was said
 * there is said again in it. Apart from the dialog itself, whose code is loaded with the first one.
 */
export const DialogBanner = createContext<ReactNode>(null)
