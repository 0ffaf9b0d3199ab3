import { Failure } from '../failure.ts'

/** Returns the failure of a document of more than `DOCUMENT_BYTES`. */
export const documentTooLarge = () => new Failure('too-large', 'A document can be at most 1 MiB.')
