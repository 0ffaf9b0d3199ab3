import { json, jsonParseLinter } from '@codemirror/lang-json'
import { bracketMatching } from '@codemirror/language'
import { type Diagnostic, forceLinting, linter, lintGutter } from '@codemirror/lint'
import { Compartment, EditorState, type Extension } from '@codemirror/state'
import { drawSelection, EditorView, keymap, lineNumbers } from '@codemirror/view'
import { minimalSetup } from 'codemirror'
import { getNonce } from 'get-nonce'
import { type RefObject, useEffect, useImperativeHandle, useLayoutEffect, useRef } from 'react'
import { editorTheme } from './editor-theme.ts'
import type { Range } from './pointer-range.ts'

/** What can be done with a {@link JsonEditor} from outside. */
export interface JsonEditorHandle {
  focus(): void
  /** Puts the cursor at an index of the text, in sight, and gives it the focus. */
  goTo(at: number): void
}

/** A part of the text with what is wrong there. */
export interface Mark extends Range {
  readonly message: string
}

/** What a {@link JsonEditor} holds. */
export interface JsonEditorProps {
  readonly handle?: RefObject<JsonEditorHandle | null>
  readonly label: string
  readonly text: string
  /** Left out: the text can be read, not written. */
  readonly onChange?: (text: string) => void
  readonly marks?: readonly Mark[]
  readonly invalid?: boolean
  /** The ids of what describes it. */
  readonly describedBy?: string
  /** Whether it has the focus when its dialog opens. */
  readonly first?: boolean
}

/** After so long without typing, in milliseconds, it is looked whether the text is JSON. */
const LINT_MS = 500

/**
 * Where JSON is read and written (CodeMirror). Tab goes on to the next field; Esc leaves the text and
 * closes nothing, so that nothing that was typed is lost by one key.
 */
export function JsonEditor(props: JsonEditorProps) {
  const { handle, text } = props
  const place = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView>(null)
  const now = useRef(props)
  now.current = props
  const [changing] = useRef([new Compartment()]).current

  useLayoutEffect(() => {
    const parent = place.current
    if (parent === null || changing === undefined) return
    const { onChange } = now.current
    const editor = new EditorView({
      parent,
      state: EditorState.create({
        doc: now.current.text,
        extensions: [
          EditorView.cspNonce.of(getNonce() ?? ''),
          editorTheme,
          // Before the usual keys: theirs would begin a new line.
          keymap.of([{ key: 'Mod-Enter', run: () => true }]),
          minimalSetup,
          // One that blinks is never at rest.
          drawSelection({ cursorBlinkRate: 0 }),
          lineNumbers(),
          bracketMatching(),
          json(),
          EditorView.lineWrapping,
          EditorView.updateListener.of(({ docChanged, state }) => {
            if (docChanged) now.current.onChange?.(state.doc.toString())
          }),
          onChange === undefined ? EditorState.readOnly.of(true) : written(now),
          changing.of(attributesOf(now.current)),
        ],
      }),
    })
    view.current = editor
    return () => editor.destroy()
  }, [changing])

  // What the form puts in the place of the text, such as what somebody else has stored.
  useLayoutEffect(() => {
    const editor = view.current
    if (editor === null || editor.state.doc.toString() === text) return
    editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: text } })
  }, [text])

  const { marks, invalid, label, describedBy } = props
  // biome-ignore lint/correctness/useExhaustiveDependencies: these are what the attributes are made of
  useLayoutEffect(() => {
    if (changing === undefined) return
    view.current?.dispatch({ effects: changing.reconfigure(attributesOf(now.current)) })
  }, [changing, invalid, label, describedBy])

  const wasMarked = useRef(false)
  useEffect(() => {
    const marked = marks !== undefined && marks.length > 0
    if (view.current !== null && (marked || wasMarked.current)) forceLinting(view.current)
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
  }))

  return <div ref={place} onKeyDownCapture={(event) => props.onChange && leaveByEscape(event)} />
}

/**
 * Text that is typed over a selection: browsers would give it the colours of what it replaces, as an
 * inline style, which the policy of the page does not allow.
 */
const replaceWithoutStyle = EditorView.domEventHandlers({
  beforeinput(event, view) {
    if (event.inputType !== 'insertText' || event.isComposing) return false
    // Not what the editor takes for selected: it hears of that a moment later.
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

/** What only a text that can be written needs. */
const written = (now: RefObject<JsonEditorProps>): Extension => [
  replaceWithoutStyle,
  lintGutter(),
  linter(
    (view) => {
      const length = view.state.doc.length
      const marked = (now.current.marks ?? []).map(
        ({ from, to, message }): Diagnostic => ({
          from: Math.min(from, length),
          to: Math.min(to, length),
          severity: 'error',
          message,
        }),
      )
      return length === 0 ? marked : [...jsonParseLinter()(view), ...marked]
    },
    { delay: LINT_MS },
  ),
]

const attributesOf = ({
  label,
  invalid = false,
  describedBy,
  first = false,
  onChange,
}: JsonEditorProps): Extension =>
  EditorView.contentAttributes.of({
    'aria-label': label,
    // A dialog closes by Esc unless the text says that the key is its own.
    ...(onChange !== undefined && { 'data-mantine-stop-propagation': 'true' }),
    ...(first && { 'data-autofocus': 'true' }),
    ...(invalid && { 'aria-invalid': 'true' }),
    ...(describedBy !== undefined && { 'aria-describedby': describedBy }),
  })

/** Esc leaves the text: on to what comes after it in its form. */
function leaveByEscape(event: React.KeyboardEvent<HTMLDivElement>): void {
  if (event.key !== 'Escape' || event.nativeEvent.isComposing) return
  const own = event.currentTarget
  const around = own.closest('[role="dialog"]') ?? document.body
  const stops = [...around.querySelectorAll<HTMLElement>('button, a[href], input, [tabindex="0"]')]
  const next = stops.find(
    (each) =>
      !own.contains(each) && own.compareDocumentPosition(each) & Node.DOCUMENT_POSITION_FOLLOWING,
  )
  if (next === undefined) return
  event.preventDefault()
  event.stopPropagation()
  next.focus()
}
