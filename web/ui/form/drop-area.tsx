import { type DragEvent, type ReactNode, useState } from 'react'
import classes from './drop-area.module.css'

/** Fields of a form onto which files can be dropped. They can be chosen there too. */
export function DropArea(props: { onDrop: (files: readonly File[]) => void; children: ReactNode }) {
  const [isOver, setOver] = useState(false)
  const drop = {
    'data-over': isOver || undefined,
    onDragOver: (event: DragEvent) => {
      event.preventDefault()
      setOver(true)
    },
    onDragLeave: () => setOver(false),
    onDrop: (event: DragEvent) => {
      event.preventDefault()
      setOver(false)
      props.onDrop([...event.dataTransfer.files])
    },
  }
  return (
    <div className={classes.area} {...drop}>
      {props.children}
    </div>
  )
}
