import { existsSync, globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'

const root = path.join(import.meta.dirname, '../../..')
const pages = globSync(['*.md', 'docs/**/*.md', 'packages/*/README.md'], { cwd: root })

const textOf = (page: string) =>
  readFileSync(path.join(root, page), 'utf8').replace(/^```[^`]*^```/gm, '')

/** Returns the anchors of a page's headings, as GitHub generates them. */
function anchorsOf(page: string): Set<string> {
  const anchors = new Set<string>()
  for (const [, heading = ''] of textOf(page).matchAll(/^#+ (.*)$/gm)) {
    const slug = heading
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replace(/[^\p{L}\p{N}_\- ]/gu, '')
      .replaceAll(' ', '-')
    let anchor = slug
    for (let count = 1; anchors.has(anchor); count++) anchor = `${slug}-${count}`
    anchors.add(anchor)
  }
  return anchors
}

/** Returns the links of a page whose file or heading does not exist. */
function brokenLinks(page: string): string[] {
  const links = [...textOf(page).matchAll(/\]\(([^)\s]+)\)|(?:src|srcset)="([^"]+)"/g)]
  return links
    .map(([, link, picture]) => link ?? picture ?? '')
    .filter((link) => !/^https?:/.test(link))
    .filter((link) => {
      const [file = '', anchor] = link.split('#')
      const target = file === '' ? page : path.join(path.dirname(page), file)
      if (!existsSync(path.join(root, target))) return true
      return anchor !== undefined && !anchorsOf(target).has(anchor)
    })
    .map((link) => `${page}: ${link}`)
}

test('every link of the documentation leads to a file and a heading', () => {
  expect(pages.length).toBeGreaterThan(20)
  expect(pages.flatMap(brokenLinks)).toEqual([])
})
