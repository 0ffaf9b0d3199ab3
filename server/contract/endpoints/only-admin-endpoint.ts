import { Failure } from '../../failure.ts'

/** Returns the failure of a change after which no endpoint would serve `_system`. */
export const onlyAdminEndpoint = () =>
  new Failure(
    'conflict',
    'This is the only endpoint that serves _system, so the server could not be administered without it. ' +
      'Add another one first.',
  )
