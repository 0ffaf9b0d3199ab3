import { FileInput, NativeSelect } from '@mantine/core'
import { useState } from 'react'
import type { CertificateRecord } from '../../server/contract/certificate.ts'
import { type DraftForm, useDraftForm } from '../shared/forms/use-draft-form.ts'
import { ChoiceGroup } from '../ui/form/choice-group.tsx'
import { CodeInput } from '../ui/form/code-input.tsx'
import { DropArea } from '../ui/form/drop-area.tsx'
import { FormFrame } from '../ui/form/form-frame.tsx'
import { Lines } from '../ui/form/lines.tsx'
import { Dialog } from '../ui/overlay/dialog.tsx'
import {
  type CertificateDraft,
  certificateDraft,
  certificateGroups,
  certificateSchema,
  readFiles,
  toCertificateErrors,
  toCertificateInput,
} from './certificate-draft.ts'
import { useSaveCertificate } from './certificate-requests.ts'
import classes from './certificates.module.css'

export interface CertificateDialogProps {
  /** The certificate to replace. Default: the dialog adds one. */
  readonly replaced?: CertificateRecord
  /** Suggested names of a new certificate. Default: the host of this page. */
  readonly names?: readonly string[]
  readonly onClose: () => void
  /** Called with the name of the saved certificate, in place of `onClose`. */
  readonly onSaved: (name: string) => void
}

/** Whether the configuration of the server permits ACME, as it writes into the page. */
const isAcmeConfigured = (): boolean =>
  document.querySelector<HTMLMetaElement>('meta[name="acme"]')?.content === 'yes'

const kinds = {
  local: {
    label: 'Local authority',
    note: 'Gatehouse issues and renews the certificate itself. Clients must trust its authority, whose certificate you can download.',
  },
  upload: {
    label: 'Upload',
    note: 'The key is encrypted in the database, and never given out again. Replace the certificate before it expires.',
  },
  file: {
    label: 'Files',
    note: 'Every node reads its own files, and reads them again when they change.',
  },
  acme: {
    label: 'ACME',
    note: 'A public authority, such as Let’s Encrypt, issues the certificate. Gatehouse renews it. The names must lead to this server.',
  },
} as const

/** The form that adds or replaces a certificate. Its values are never stored. */
export function CertificateDialog(props: CertificateDialogProps) {
  const { replaced, names = [location.hostname.replace(/^\[|\]$/g, '')], onClose, onSaved } = props
  const [initialValues] = useState(() => certificateDraft(names, replaced))
  const form = useDraftForm<CertificateDraft>({
    initialValues,
    schema: certificateSchema,
    groups: certificateGroups,
  })
  const draft = form.values
  const save = useSaveCertificate(replaced === undefined ? 'added' : 'replaced')
  const submit = () =>
    form.submit(() => {
      const name = draft.name.trim()
      save.mutate(
        { name, input: toCertificateInput(draft), replaced },
        {
          onSuccess: () => onSaved(name),
          onError: (error) => form.showErrors(toCertificateErrors(error, draft)),
        },
      )
    })
  const offered = (['local', 'upload', 'file', 'acme'] as const).filter(
    (kind) => kind !== 'acme' || kind === draft.kind || isAcmeConfigured(),
  )
  const hasSecret = draft.key !== '' || draft.pfx !== null
  return (
    <Dialog
      title={replaced === undefined ? 'Add a certificate' : `Replace ${replaced.name}`}
      name={replaced?.name}
      width={560}
      deliberate={hasSecret}
      onClose={onClose}
    >
      <FormFrame
        form={form}
        saveLabel={replaced === undefined ? 'Add certificate' : 'Replace certificate'}
        busy={save.isPending}
        sentences={
          replaced !== undefined && replaced.endpoints.length > 0
            ? ['New connections get the new certificate. Open connections stay open.']
            : []
        }
        onSave={submit}
        onCancel={onClose}
      >
        {replaced === undefined && (
          <CodeInput
            label="Name"
            description="Endpoints refer to the certificate by this name."
            placeholder="web"
            data-autofocus
            {...form.getInputProps('name')}
          />
        )}
        <ChoiceGroup
          label="Source"
          inline
          first={replaced !== undefined}
          choices={offered.map((value) => ({ value, label: kinds[value].label }))}
          value={draft.kind}
          note={kinds[draft.kind].note}
          onChange={(kind) => form.setValues({ kind })}
        />
        {draft.kind === 'upload' && <UploadFields form={form} />}
        {draft.kind === 'file' && (
          <>
            <CodeInput
              label="Path of the certificate and its chain"
              placeholder="/etc/ssl/fullchain.pem"
              {...form.getInputProps('certificatePath')}
            />
            <CodeInput
              label="Path of the private key"
              placeholder="/etc/ssl/privkey.pem"
              {...form.getInputProps('keyPath')}
            />
          </>
        )}
        {(draft.kind === 'local' || draft.kind === 'acme') && (
          <Lines
            label="Names"
            description={
              draft.kind === 'local'
                ? 'Host names and IP addresses by which clients reach the endpoint, one per line.'
                : 'Host names by which clients reach the endpoint, one per line.'
            }
            placeholder={draft.kind === 'local' ? 'localhost\n192.0.2.1' : 'gatehouse.example.org'}
            {...form.getInputProps('names')}
          />
        )}
        {draft.kind === 'acme' && (
          <NativeSelect
            label="Proof of control"
            data={[
              { value: 'http-01', label: 'HTTP on port 80 (HTTP-01)' },
              { value: 'tls-alpn-01', label: 'TLS on port 443 (TLS-ALPN-01)' },
            ]}
            {...form.getInputProps('challenge')}
          />
        )}
      </FormFrame>
    </Dialog>
  )
}

const PEM = '-----BEGIN …'

/** Files that are chosen or dropped, or pasted PEM texts. */
function UploadFields({ form }: { form: DraftForm<CertificateDraft> }) {
  const { pfx } = form.values
  const [error, setError] = useState<string>()
  const choose = async (files: readonly File[]) => {
    try {
      form.setValues(await readFiles(files))
      setError(undefined)
    } catch (failure) {
      setError((failure as Error).message)
    }
  }
  return (
    <DropArea onDrop={(files) => void choose(files)}>
      <FileInput
        label="Files"
        description="PEM files of the certificate, its chain and the key, or one PKCS #12 file (.p12, .pfx)."
        placeholder={pfx?.name ?? 'Choose files or drop them here'}
        accept=".pem,.crt,.cer,.key,.p12,.pfx"
        multiple
        value={[]}
        error={error ?? form.errors.pfx}
        onChange={(files) => void choose(files)}
      />
      {pfx === null ? (
        <>
          <Lines
            label="Certificate and chain"
            placeholder={PEM}
            {...form.getInputProps('certificate')}
          />
          <Lines label="Private key" placeholder={PEM} {...form.getInputProps('key')} />
        </>
      ) : (
        <button
          type="button"
          className={`link-button ${classes.instead}`}
          onClick={() => form.setValues({ pfx: null })}
        >
          Use PEM instead of {pfx.name}
        </button>
      )}
      <CodeInput
        label="Passphrase"
        description="Only if the key or the PKCS #12 file is encrypted."
        type="password"
        {...form.getInputProps('passphrase')}
      />
    </DropArea>
  )
}
