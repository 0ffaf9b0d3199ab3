import { Button } from '@mantine/core'
import { API_BASE } from '../api/client.ts'
import { IconDownload } from '../ui/icon/icons.tsx'
import { Section } from '../ui/layout/section.tsx'
import { Fact, Facts } from '../ui/table/record-details.tsx'

const FILE = 'gatehouse-root.crt'

/** How each system is made to trust the local authority. */
const systems = [
  [
    'Debian, Ubuntu',
    'Run',
    `sudo install -m 644 ${FILE} /usr/local/share/ca-certificates/ && sudo update-ca-certificates`,
  ],
  [
    'macOS',
    'Run',
    `sudo security add-trusted-cert -d -r trustRoot -k /Library/Keychains/System.keychain ${FILE}`,
  ],
  ['Windows', 'As administrator, run', `certutil -addstore -f Root ${FILE}`],
  [
    'Firefox',
    'In Settings, search for “certificates”, select View Certificates, Authorities, Import, choose the file, and let it identify websites.',
  ],
  ['curl', 'Add', `--cacert ${FILE}`],
] as const

/** Offers the certificate of the local authority, and says how each system trusts it. */
export function TrustRoot() {
  return (
    <Section
      title="Local authority"
      note="Clients accept certificates of the local authority once they trust its own certificate. Give it to people who use this server, over a connection that they already trust."
      action={
        <Button
          variant="default"
          component="a"
          href={`${API_BASE}/_api/certificate-root`}
          download={FILE}
          leftSection={<IconDownload />}
        >
          Download {FILE}
        </Button>
      }
    >
      <Facts>
        {systems.map(([system, sentence, command]) => (
          <Fact key={system} term={system}>
            {sentence} {command !== undefined && <code className="mono">{command}</code>}
            {command !== undefined && '.'}
          </Fact>
        ))}
      </Facts>
    </Section>
  )
}
