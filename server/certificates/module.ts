import { Gauge, type Registry } from 'prom-client'
import type { RequireRole } from '../http/guards/require-role.ts'
import type { HttpModule } from '../http/module.ts'
import { type CertificatesDeps, createCertificates } from './certificates.ts'
import { certificateRootRoutes, certificateRoutes } from './routes.ts'

export interface CertificatesModuleDeps extends CertificatesDeps {
  readonly http: Pick<HttpModule, 'sendList'>
  readonly requireRole: RequireRole
}

/**
 * Creates the certificates of `ssl` endpoints and their routes.
 *
 * @throws Failure `bad-parameter` if the certificate from the command line cannot be used.
 */
export async function createCertificatesModule(deps: CertificatesModuleDeps) {
  const { http, requireRole } = deps
  const certificates = await createCertificates(deps)
  return {
    ...certificates,
    routes: certificateRoutes({ certificates, requireRole, sendList: http.sendList }),
    rootRoutes: certificateRootRoutes({ certificates, requireRole }),
    /** Registers the metrics. */
    register: (registry: Registry) =>
      void new Gauge({
        name: 'gatehouse_certificate_not_after_seconds',
        help: 'When a certificate expires, Unix time',
        labelNames: ['certificate'],
        registers: [registry],
        collect() {
          this.reset()
          for (const [certificate, end] of certificates.ends())
            this.set({ certificate }, end / 1000)
        },
      }),
  }
}

export type CertificatesModule = Awaited<ReturnType<typeof createCertificatesModule>>
