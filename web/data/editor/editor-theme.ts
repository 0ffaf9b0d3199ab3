import { HighlightStyle, syntaxHighlighting } from '@codemirror/language'
import { EditorView } from '@codemirror/view'
import { tags } from '@lezer/highlight'

/** CodeMirror theme based on our design tokens, which switch between light and dark. */
export const editorTheme = [
  EditorView.theme({
    '&': {
      maxHeight: 'min(60vh, 640px)',
      border: '1px solid var(--control-line)',
      borderRadius: 'var(--radius-control)',
      background: 'var(--surface)',
      color: 'var(--text)',
      fontSize: '13px',
    },
    '&:has(.cm-content[aria-readonly="true"])': {
      borderColor: 'var(--line)',
      background: 'var(--sunken)',
    },
    '&:has(.cm-content[aria-invalid="true"])': { borderColor: 'var(--failed)' },
    '&.cm-focused': { outline: '2px solid var(--link)', outlineOffset: '2px' },
    '.cm-scroller': {
      overflow: 'auto',
      fontFamily: 'var(--mono)',
      fontVariantLigatures: 'none',
      lineHeight: '20px',
    },
    '.cm-content': { padding: '10px 0', caretColor: 'var(--text)' },
    '&:not(:has(.cm-content[aria-readonly="true"])) .cm-content': { minHeight: '240px' },
    '.cm-line': { padding: '0 12px 0 4px' },
    '.cm-cursor': { borderLeftColor: 'var(--text)' },
    '& > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, &.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground':
      { background: 'var(--selected)' },
    '.cm-gutters': {
      border: '0',
      borderRadius: 'var(--radius-control) 0 0 var(--radius-control)',
      background: 'transparent',
      color: 'var(--dim)',
    },
    '.cm-lineNumbers .cm-gutterElement': { minWidth: '28px', padding: '0 8px 0 4px' },
    '.cm-gutter-lint': { width: '16px' },
    '.cm-gutter-lint .cm-gutterElement': { padding: '4px 0 0 4px' },
    '.cm-lint-marker': { width: '12px', height: '12px' },
    // CodeMirror's marker is a `data:` image, which the content security policy blocks.
    '.cm-lint-marker-error': {
      content: 'none',
      borderRadius: '50%',
      border: '3px solid var(--failed)',
      boxSizing: 'border-box',
    },
    '.cm-lintRange-error': {
      backgroundImage: 'none',
      textDecoration: 'underline wavy var(--failed)',
      textUnderlineOffset: '3px',
    },
    '.cm-lintPoint::after': { borderBottomColor: 'var(--failed)' },
    '&.cm-focused .cm-matchingBracket': {
      background: 'var(--selected)',
      outline: '1px solid var(--control-line)',
    },
    '.cm-tooltip': {
      maxWidth: 'min(480px, 80vw)',
      border: '1px solid var(--line)',
      borderRadius: 'var(--radius-control)',
      background: 'var(--surface)',
      boxShadow: 'var(--shadow)',
      color: 'var(--text)',
      fontFamily: 'var(--sans)',
      fontSize: '12px',
    },
    '.cm-diagnostic-error': { borderLeftColor: 'var(--failed)' },
    // Phones zoom into a focused field with a font smaller than 16 px.
    '@media (pointer: coarse)': { '&': { fontSize: '16px' } },
  }),
  syntaxHighlighting(
    HighlightStyle.define([
      { tag: tags.propertyName, color: 'var(--link)' },
      { tag: tags.string, color: 'var(--listening)' },
      { tag: [tags.number, tags.bool, tags.null], color: 'var(--draining)' },
      { tag: [tags.separator, tags.brace, tags.squareBracket], color: 'var(--dim)' },
    ]),
  ),
]
