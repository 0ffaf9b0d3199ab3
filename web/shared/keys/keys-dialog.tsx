import { Link } from '@tanstack/react-router'
import { hasRole, usePresence } from '../../api/session/person.ts'
import { Dialog } from '../../ui/overlay/dialog.tsx'
import { useCharacterKeys } from './character-keys.ts'
import { KeyCaps } from './key-caps.tsx'
import { isCharacterKey, KEYS, type KeyScope, type KeySpec } from './keys.ts'
import classes from './keys-dialog.module.css'

const scopes: readonly { readonly where: KeyScope; readonly title: string }[] = [
  { where: 'anywhere', title: 'Anywhere' },
  { where: 'documents', title: 'In the documents table' },
  { where: 'mapping', title: 'In a mapping' },
  { where: 'form', title: 'In a form' },
  { where: 'table', title: 'In the endpoints and documents tables' },
  { where: 'endpoints', title: 'In the endpoints table' },
]

/** Lists the shortcuts that the person's role allows, from {@link KEYS}. */
export function KeysDialog({ onClose }: { onClose: () => void }) {
  const { person } = usePresence()
  const characters = useCharacterKeys()
  const useful = (KEYS as readonly KeySpec[]).filter(
    ({ needs = 'viewer', keys }) =>
      hasRole(person, needs) && (characters || !keys.every(isCharacterKey)),
  )
  return (
    <Dialog title="Keyboard shortcuts" width={720} palette onClose={onClose}>
      <div className={classes.columns}>
        {scopes.map(({ where, title }) => {
          const specs = useful.filter((spec) => spec.where === where)
          return (
            specs.length > 0 && (
              <section key={where} className={classes.scope} aria-label={title}>
                <h3 className={classes.title}>{title}</h3>
                <dl>
                  {specs.map((spec) => (
                    <div key={spec.id} className={classes.key}>
                      <dt>{spec.label}</dt>
                      <dd>
                        <Combinations spec={spec} characters={characters} />
                      </dd>
                    </div>
                  ))}
                </dl>
              </section>
            )
          )
        })}
      </div>
      <p className="meta dim">
        {characters
          ? 'Single-character shortcuts never act in text fields. You can turn them off'
          : 'Single-character shortcuts are turned off. You can turn them on'}{' '}
        <Link to="/me" hash="">
          in your preferences
        </Link>
        .
      </p>
    </Dialog>
  )
}

function Combinations({ spec, characters }: { spec: KeySpec; characters: boolean }) {
  const combinations = spec.keys.filter((combination) => characters || !isCharacterKey(combination))
  return combinations.map((combination, index) => (
    <span key={combination} className={classes.combination}>
      {index > 0 && <span className="dim">or </span>}
      <KeyCaps combination={combination} />
    </span>
  ))
}
