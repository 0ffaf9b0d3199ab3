import { json } from '@codemirror/lang-json'
import { bidiIsolates, bracketMatching } from '@codemirror/language'
import { type Diagnostic, forceLinting, linter, lintGutter } from '@codemirror/lint'
import {
  Annotation,
  Compartment,
  EditorState,
  type Extension,
  StateEffect,
} from '@codemirror/state'
import { Decoration, drawSelection, EditorView, keymap, lineNumbers } from '@codemirror/view'
import { minimalSetup } from 'codemirror'
import { getNonce } from 'get-nonce'
import {
  type RefObject,
  useEffect,
  useImperativeHandle,
  useLayoutEffect,
  useRef,
  useState,
} from 'react'
import { useEscape } from '../../ui/overlay/use-escape.ts'
import { NEW_DOCUMENT } from './document-text.ts'
import { editorTheme } from './editor-theme.ts'
import type { TextRange } from './pointer-range.ts'
import { schemaError, syntaxErrorAt } from './syntax-error.ts'

export interface JsonEditorHandle {
  focus(): void
  /** Moves the cursor to an index, scrolls it into view, and focuses the editor. */
  goTo(at: number): void
  /** Selects a range and scrolls it into view. The focus stays. */
  select(range: TextRange): void
}

/** An error at a range of the text. */
export interface TextError extends TextRange {
  readonly message: string
}

export interface JsonEditorProps {
  readonly handle?: RefObject<JsonEditorHandle | null>
  readonly label: string
  readonly text: string
  readonly onChange: (text: string) => void
  readonly marks?: readonly TextError[]
  readonly invalid?: boolean
  /** Ids of the elements that describe the editor. */
  readonly describedBy?: string
  /** Whether it receives the focus when its dialog opens. */
  readonly first?: boolean
}

/** Delay in milliseconds before the text is validated. */
const LINT_MS = 500

/**
 * JSON editor (CodeMirror). Tab moves the focus to the next field. Escape moves it out of the
 * editor without closing the dialog, so that a key press does not discard the text.
 */
export function JsonEditor(props: JsonEditorProps) {
  const { handle, text } = props
  const container = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView>(null)
  const [changing] = useState(() => new Compartment())
  const now = useRef(props)
  // Before the effects below, which read it.
  useLayoutEffect(() => {
    now.current = props
  })

  useLayoutEffect(() => {
    const parent = container.current
    if (parent === null) return
    const editor = new EditorView({
      parent,
      state: EditorState.create({
        doc: now.current.text,
        // Between the braces, where its fields are typed.
        selection: { anchor: now.current.text === NEW_DOCUMENT ? NEW_DOCUMENT.length - 2 : 0 },
        extensions: [
          EditorView.cspNonce.of(getNonce() ?? ''),
          editorTheme,
          // Overrides CodeMirror's binding, which inserts a line.
          keymap.of([{ key: 'Mod-Enter', run: () => true }]),
          minimalSetup,
          // Blinking is off, so that the page is static while idle.
          drawSelection({ cursorBlinkRate: 0 }),
          lineNumbers(),
          matchingBrackets,
          json(),
          bidiIsolates(),
          EditorView.lineWrapping,
          EditorView.updateListener.of(({ docChanged, state, transactions }) => {
            const isTyped = !transactions.some((each) => each.annotation(ofProps) === true)
            if (docChanged && isTyped) now.current.onChange(state.doc.toString())
          }),
          written(now),
          changing.of(attributesOf(now.current)),
        ],
      }),
    })
    view.current = editor
    return () => editor.destroy()
  }, [changing])

  // Apply text set by the form, such as another person's version.
  useLayoutEffect(() => {
    const editor = view.current
    if (editor === null || editor.state.doc.toString() === text) return
    editor.dispatch({
      changes: { from: 0, to: editor.state.doc.length, insert: text },
      annotations: ofProps.of(true),
    })
  }, [text])

  const { marks, invalid, label, describedBy } = props
  // biome-ignore lint/correctness/useExhaustiveDependencies: the attributes depend only on these
  useLayoutEffect(() => {
    view.current?.dispatch({ effects: changing.reconfigure(attributesOf(now.current)) })
  }, [changing, invalid, label, describedBy])

  const wasMarked = useRef(false)
  useEffect(() => {
    const marked = marks !== undefined && marks.length > 0
    if (view.current !== null && (marked || wasMarked.current)) {
      view.current.dispatch({ effects: marksChanged.of(undefined) })
      forceLinting(view.current)
    }
    wasMarked.current = marked
  }, [marks])

  useImperativeHandle(handle, () => ({
    focus: () => view.current?.focus(),
    goTo: (at) => {
      const editor = view.current
      if (editor === null) return
      const anchor = Math.min(at, editor.state.doc.length)
      editor.dispatch({ selection: { anchor }, scrollIntoView: true })
      editor.focus()
    },
    select: ({ from, to }) =>
      view.current?.dispatch({ selection: { anchor: from, head: to }, scrollIntoView: true }),
  }))

  useEscape('field', () => leave(container.current))
  return <div ref={container} />
}

const matchingBracket = Decoration.mark({ class: 'cm-matchingBracket' })

/**
 * Marks pairs of brackets. One without the other is not marked: that of a long text may not be
 * parsed yet, and the linter reports errors.
 */
const matchingBrackets = bracketMatching({
  renderMatch: ({ matched, start, end = start }) =>
    matched
      ? [start, end]
          .toSorted((a, b) => a.from - b.from)
          .map(({ from, to }) => matchingBracket.range(from, to))
      : [],
})

/** Marks a change that shows the text of the props, which the caller knows. */
const ofProps = Annotation.define<boolean>()

/**
 * Handles text typed over a selection. Browsers would copy the colors of the replaced text as an
 * inline style, which the content security policy blocks.
 */
const replaceWithoutStyle = EditorView.domEventHandlers({
  beforeinput(event, view) {
    if (event.inputType !== 'insertText' || event.isComposing) return false
    // Read the DOM selection, because the editor's own state is updated later.
    const selection = getSelection()
    if (selection === null || selection.rangeCount === 0) return false
    const range = selection.getRangeAt(0)
    if (!view.contentDOM.contains(range.commonAncestorContainer)) return false
    const from = view.posAtDOM(range.startContainer, range.startOffset)
    const to = view.posAtDOM(range.endContainer, range.endOffset)
    if (from === to || event.data === null) return false
    view.dispatch({
      changes: { from, to, insert: event.data },
      selection: { anchor: from + event.data.length },
      scrollIntoView: true,
      userEvent: 'input.type',
    })
    return true
  },
})

/** Makes the linter run again, although the text has not changed. */
const marksChanged = StateEffect.define<undefined>()

/** Typing, and the marks of errors. */
const written = (now: RefObject<JsonEditorProps>): Extension => [
  replaceWithoutStyle,
  lintGutter(),
  linter(
    (view) => {
      const text = view.state.doc.toString()
      const { length } = text
      const marked = (now.current.marks ?? []).map(
        ({ from, to, message }): Diagnostic => ({
          from: Math.min(from, length),
          to: Math.min(to, length),
          severity: 'error',
          message,
        }),
      )
      const message = length === 0 ? undefined : schemaError(text)
      if (message === undefined) return marked
      const from = syntaxErrorAt(text) ?? 0
      return [{ from, to: from, severity: 'error', message }, ...marked]
    },
    {
      delay: LINT_MS,
      needsRefresh: ({ transactions }) =>
        transactions.some(({ effects }) => effects.some((effect) => effect.is(marksChanged))),
    },
  ),
]

const attributesOf = ({
  label,
  invalid = false,
  describedBy,
  first = false,
}: JsonEditorProps): Extension =>
  EditorView.contentAttributes.of({
    'aria-label': label,
    ...(first && { 'data-autofocus': 'true' }),
    ...(invalid && { 'aria-invalid': 'true' }),
    ...(describedBy !== undefined && { 'aria-describedby': describedBy }),
  })

/** Focuses the next element after the editor. Returns false if the editor has no focus. */
function leave(own: HTMLElement | null): boolean {
  if (own === null || !own.contains(document.activeElement)) return false
  const around = own.closest('[role="dialog"]') ?? document.body
  const stops = [...around.querySelectorAll<HTMLElement>('button, a[href], input, [tabindex="0"]')]
  const next = stops.find(
    (each) =>
      !own.contains(each) && own.compareDocumentPosition(each) & Node.DOCUMENT_POSITION_FOLLOWING,
  )
  next?.focus()
  return next !== undefined
}
