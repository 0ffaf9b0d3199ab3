import { createRoute } from '@tanstack/react-router'
import { readRecordSearch } from '../../shared/use-record-location.ts'
import { rootRoute } from '../frame.tsx'
import { lazyPage } from '../lazy-page.tsx'

const loadPage = () => import('../../webhooks/webhooks-page.tsx')

const webhooksRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/webhooks',
  validateSearch: readRecordSearch('/webhooks'),
  component: lazyPage(async () => (await loadPage()).WebhooksPage, {
    what: 'the webhooks',
    heading: 'Webhooks',
  }),
})

const addWebhookRoute = createRoute({
  getParentRoute: () => webhooksRoute,
  path: '/new',
  component: lazyPage(async () => (await loadPage()).AddWebhookOutlet),
})

/** The page of webhooks and its dialog. */
export const webhookRoutes = [webhooksRoute.addChildren([addWebhookRoute])] as const
