import { setFlagsFromString } from 'node:v8'

// Sets the flags of V8. A large young generation makes requests cheaper. A start would grow it to
// 16 MiB, which an idle node would keep.

/** Keeps the young generation at its initial size. */
export const keepYoungGenerationSmall = (): void =>
  setFlagsFromString('--semi-space-growth-factor=1')

/** Lets the young generation grow with the load, the default of V8. */
export const letYoungGenerationGrow = (): void => setFlagsFromString('--semi-space-growth-factor=2')
