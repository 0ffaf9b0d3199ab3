import type { Plugin, Rolldown } from 'vite'
import { nameIfUsedBy } from './name-if-used-by.ts'

/** The documents of the console. The sign-in page loads no code of the console. */
const [CONSOLE, SIGN_IN] = ['index.html', 'sign-in.html']

/** The entries of the build. */
export const PAGES = [CONSOLE, SIGN_IN]

/** Code that pages of several nouns share, without the form library and Mantine. */
const SHARED = /\/web\/(?:ui|api|shared\/(?!forms\/use-draft-form))/

/** Code of dialogs and panels: the form library, and rarely used fields. */
const FORMS =
  /\/web\/(?:shared\/(?:forms\/use-draft-form|secret-dialog)|ui\/form\/form-frame)|\/@mantine\/(?:form|core\/esm\/components\/Textarea)\//
const FIELDS =
  /\/web\/(?:shared\/(?:import|copy-with-token)|ui\/form\/suggest-field)|\/@mantine\/core\/esm\/components\/(?:FileInput|FileButton|Combobox|Autocomplete)\//

const tags: Rolldown.CodeSplittingGroup['tags'] = ['$initial']

/**
 * The chunks of code that several pages share. Few and large ones, because each further file costs a
 * request and compresses worse. Other code is split at `import()`.
 */
export const CHUNKS: Rolldown.CodeSplittingGroup[] = [
  // The first view: React, code shared by both documents, and the rest. React changes rarely,
  // so browsers keep it cached across versions.
  { name: 'react', test: /node_modules\/(react|react-dom|scheduler)\//, priority: 3 },
  { name: nameIfUsedBy('shared', CONSOLE, SIGN_IN), debugName: 'shared', tags, priority: 2 },
  { name: nameIfUsedBy('first-view', CONSOLE), debugName: 'first-view', tags, priority: 1 },
  // What the overview and the table of endpoints need, so that neither page loads the controls of
  // the other pages.
  {
    name: nameIfUsedBy('basics', 'overview-page.tsx'),
    debugName: 'basics',
    test: SHARED,
    priority: 1,
  },
  // The sentences of changes, in the overview, the activity and the panel of an endpoint.
  {
    name: nameIfUsedBy('changes', 'change-sentence.tsx'),
    debugName: 'changes',
    test: SHARED,
    priority: 1,
  },
  // What the first steps of the overview share with the table of endpoints, and with other pages.
  {
    name: nameIfUsedBy('copy', 'first-request.tsx'),
    debugName: 'copy',
    test: SHARED,
    priority: 1,
  },
  {
    name: nameIfUsedBy('table', 'endpoints-page.tsx'),
    debugName: 'table',
    test: SHARED,
    priority: 1,
  },
  {
    name: nameIfUsedBy('endpoints-table', 'endpoints-page.tsx'),
    debugName: 'endpoints-table',
    test: /\/web\/endpoints\//,
    priority: 1,
  },
  // The other pages: their controls, which need neither the form library nor the editors, and what
  // the pages of a collection share.
  {
    name: 'controls',
    test: (id) =>
      (SHARED.test(id) || id.includes('/@mantine/core/')) && !FORMS.test(id) && !FIELDS.test(id),
    minShareCount: 2,
    priority: 1,
  },
  { name: 'forms', test: FORMS, minShareCount: 2 },
  { name: 'fields', test: FIELDS, minShareCount: 2 },
  // The rules of policies in words, in the activity and in the panel of an endpoint.
  { name: 'rules', test: /\/web\/policy\/rule-changes/, minShareCount: 2, priority: 1 },
  // What pages need of certificates that show no policies.
  {
    name: 'certificates',
    test: /\/(?:web\/certificates\/queries|server\/contract\/certificate)\.ts/,
    minShareCount: 2,
    priority: 1,
  },
  {
    name: nameIfUsedBy('data', 'collection-page.tsx'),
    debugName: 'data',
    test: /\/web\/data\//,
    minShareCount: 2,
  },
  // What the panel and the dialogs of endpoints share, without their forms.
  { name: 'endpoints', test: /\/web\/endpoints\/(?!form|import|bulk)/, minShareCount: 2 },
  // What the panel, the dialogs and the banner of policies share, without the form.
  {
    name: 'policies',
    test: /\/web\/policy\/(?!policy-(?:dialog|fields|draft)|describe|request-test|switch)/,
  },
]

/**
 * Moves the style sheets and preloads of the console after the skeleton in its body, so that a
 * browser paints the skeleton before they arrive.
 */
export const paintSkeletonFirst: Plugin = {
  name: 'paint-skeleton-first',
  apply: 'build',
  transformIndexHtml: {
    order: 'post',
    handler(html, { path }) {
      if (!path.endsWith(CONSOLE)) return html
      const links: string[] = []
      const rest = html.replace(
        /\n *(<link rel="(?:stylesheet|modulepreload)"[^>]*>|<script type="module"[^>]*><\/script>)/g,
        (_, link: string) => {
          links.push(link)
          return ''
        },
      )
      return rest.replace('</body>', `${links.map((link) => `  ${link}\n`).join('')}  </body>`)
    },
  },
}
