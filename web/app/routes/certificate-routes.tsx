import { createRoute } from '@tanstack/react-router'
import { readRecordSearch } from '../../shared/use-record-location.ts'
import { rootRoute } from '../frame.tsx'
import { lazyPage } from '../lazy-page.tsx'

const loadPage = () => import('../../certificates/certificates-page.tsx')

const certificatesRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/certificates',
  validateSearch: readRecordSearch('/certificates'),
  component: lazyPage(async () => (await loadPage()).CertificatesPage, {
    what: 'the certificates',
    heading: 'Certificates',
  }),
})

const addCertificateRoute = createRoute({
  getParentRoute: () => certificatesRoute,
  path: '/new',
  component: lazyPage(async () => (await loadPage()).AddCertificateOutlet),
})

/** The page of certificates and its dialog. */
export const certificateRoutes = [certificatesRoute.addChildren([addCertificateRoute])] as const
