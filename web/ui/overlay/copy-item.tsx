import { Menu } from '@mantine/core'
import { useCopied } from '../text/copy-text.ts'

/** Menu item that copies text. The menu stays open and confirms it. */
export function CopyItem({ label, name, text }: { label: string; name: string; text: string }) {
  const [copied, copy] = useCopied()
  return (
    <Menu.Item closeMenuOnClick={false} onClick={() => copy(text, name)}>
      {copied === text ? 'Copied' : label}
    </Menu.Item>
  )
}
