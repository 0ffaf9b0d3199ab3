import { createRootRoute } from '@tanstack/react-router'
import { Frame, NoSuchPage } from './frame.tsx'

/** Every page is shown in the frame. */
export const rootRoute = createRootRoute({ component: Frame, notFoundComponent: NoSuchPage })
