import { documentIndex, indexInput, indexList } from '../../contract/document-index.ts'
import { failure, jsonOf, parameter } from '../describe-components.ts'
import {
  body,
  CONDITIONS_WITHOUT_TAG,
  NO_CONTENT,
  notModified,
  operations,
} from '../describe-routes.ts'

const INDEX = jsonOf(documentIndex)

/** The operations of `/_index/<collection>`. */
export const collectionIndexes = operations([parameter('Collection')], {
  get: {
    summary: 'List the indexes of a collection',
    parameters: CONDITIONS_WITHOUT_TAG,
    responses: {
      '200': { description: 'The indexes, by name', content: jsonOf(indexList) },
      '304': notModified(),
      '404': failure('NotFound'),
      '412': failure('PreconditionFailed'),
    },
  },
})

/** The operations of `/_index/<collection>/<name>`. */
export const documentIndexOperations = operations(
  [parameter('Collection'), parameter('IndexName')],
  {
    put: {
      summary: 'Create an index of a collection',
      description:
        'The index is built in the background, and serves queries once it is ready. One with the same definition whose build has failed is built again.',
      parameters: [parameter('IfMatchAny')],
      requestBody: body(jsonOf(indexInput, 'input'), 'The fields of the index.'),
      responses: {
        '200': { description: 'The index exists with this definition.', content: INDEX },
        '201': { description: 'The index was created.', content: INDEX },
        '409': failure('IndexConflict'),
        '412': failure('PreconditionFailed'),
      },
    },
    delete: {
      summary: 'Delete an index of a collection',
      parameters: [parameter('Prefer'), parameter('IfMatchAny')],
      responses: {
        '200': { description: 'The index that was deleted', content: INDEX },
        '204': NO_CONTENT,
        '404': failure('NotFound'),
        '412': failure('PreconditionFailed'),
      },
    },
  },
)
