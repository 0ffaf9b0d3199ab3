import { Combobox, type TextInputProps, useCombobox } from '@mantine/core'
import { type KeyboardEvent, useEffect, useId, useState } from 'react'
import { useEscape } from '../overlay/use-escape.ts'
import { CodeInput } from './code-input.tsx'
import classes from './suggest-field.module.css'

export interface SuggestFieldProps extends Omit<TextInputProps, 'value' | 'onChange'> {
  readonly label?: string
  readonly value?: string
  readonly suggestions: readonly string[]
  /** The beginning of the value that a suggestion keeps. Default: none. */
  readonly before?: string
  /**
   * Whether typing highlights the best suggestion, which Enter then takes. Default: true. Use false
   * for texts that often are not among the suggestions, such as values of documents.
   */
  readonly highlight?: boolean
  readonly onChange: (value: string) => void
  /** Called with the value of a chosen suggestion. Default: `onChange`. */
  readonly onChoose?: (value: string) => void
  /** Called by Enter if it takes no suggestion. */
  readonly onEnter?: (event: KeyboardEvent) => void
}

const steps: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 }

/**
 * A text field that suggests values: a combobox with a list (WAI-ARIA APG). Enter takes the
 * highlighted suggestion. Any other text can be entered: Escape closes the list, and Tab leaves the
 * field as typed.
 */
export function SuggestField(props: SuggestFieldProps) {
  const { suggestions, before = '', highlight = true, ...rest } = props
  const { value = '', onChange, onChoose = onChange, onEnter, onBlur, onClick, ...input } = rest
  // Opens on typing, an arrow key or a click. Opened on focus, it would cover what is below.
  const [opened, setOpened] = useState(false)
  const [pointed, setPointed] = useState<number | 'best'>()
  const id = useId()
  const typed = value.slice(before.length)
  const isExact = suggestions.includes(typed) || suggestions.includes(typed.trim())
  const matching = matchSuggestions(suggestions, typed)
  const isOpen = opened && matching.length > (isExact ? 1 : 0)
  const best = highlight && typed.trim() !== '' && !isExact ? 0 : -1
  const at = Math.min(pointed === 'best' ? best : (pointed ?? -1), matching.length - 1)
  const chosen = isOpen ? matching[at] : undefined
  const activeId = chosen === undefined ? undefined : `${id}-${at}`
  const combobox = useCombobox({ opened: isOpen, onOpenedChange: setOpened })
  useEscape('field', isOpen ? () => setOpened(false) : undefined)
  useEffect(() => {
    if (activeId === undefined) return
    document.getElementById(activeId)?.scrollIntoView({ block: 'nearest' })
  }, [activeId])
  const choose = (suggestion: string) => {
    setOpened(false)
    onChoose(before + suggestion)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return
    const step = steps[event.key]
    if (step !== undefined) {
      event.preventDefault()
      setOpened(true)
      const next = isOpen && at >= 0 ? at + step : step > 0 ? 0 : -1
      setPointed((next + matching.length) % Math.max(matching.length, 1))
    } else if (event.key === 'Enter' && !event.ctrlKey && !event.metaKey) {
      setOpened(false)
      if (chosen === undefined) return onEnter?.(event)
      event.preventDefault()
      choose(chosen)
    }
  }
  return (
    <Combobox
      store={combobox}
      keepMounted={false}
      // Rendered inside the landmark of the dialog, with fixed positioning so that the dialog does
      // not clip it.
      withinPortal={false}
      floatingStrategy="fixed"
      offset={4}
      onOptionSubmit={choose}
    >
      <Combobox.Target withKeyboardNavigation={false} withAriaAttributes={false}>
        <CodeInput
          {...input}
          role="combobox"
          aria-autocomplete="list"
          aria-haspopup="listbox"
          aria-expanded={isOpen}
          aria-controls={isOpen ? id : undefined}
          aria-activedescendant={activeId}
          value={value}
          onChange={(event) => {
            setOpened(true)
            setPointed('best')
            onChange(event.currentTarget.value)
          }}
          onClick={(event) => {
            if (!isOpen) setPointed(undefined)
            setOpened(true)
            onClick?.(event)
          }}
          onBlur={(event) => {
            setOpened(false)
            onBlur?.(event)
          }}
          onKeyDown={onKeyDown}
        />
      </Combobox.Target>
      <Combobox.Dropdown>
        <Combobox.Options
          id={id}
          className={classes.list}
          aria-label={input['aria-label'] ?? input.label}
        >
          {matching.map((suggestion, index) => (
            <Combobox.Option
              key={suggestion}
              id={`${id}-${index}`}
              className={`mono ${classes.option}`}
              value={suggestion}
              selected={index === at}
              aria-selected={index === at}
            >
              {suggestion}
            </Combobox.Option>
          ))}
        </Combobox.Options>
      </Combobox.Dropdown>
    </Combobox>
  )
}

/** Returns the suggestions that contain a text: equal ones, then prefixes, then the others. */
export function matchSuggestions(all: readonly string[], typed: string): readonly string[] {
  const text = typed.trim()
  const folded = text.toLowerCase()
  const found = all.flatMap((suggestion) => {
    const at = suggestion.toLowerCase().indexOf(folded)
    if (at < 0) return []
    if (suggestion === text) return { suggestion, order: 0 }
    return { suggestion, order: at > 0 ? 3 : suggestion.length === text.length ? 1 : 2 }
  })
  return found.sort((a, b) => a.order - b.order).map(({ suggestion }) => suggestion)
}
