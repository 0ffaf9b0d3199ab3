// The rules that imports follow. `npm run lint` checks them.
//
// The server's imports go one way: main → start → modules, app → <noun>/module → <noun>/routes → <noun> →
// storage. Every layer may import contract (what crosses the wire), failure and rate-limit. The console imports contract
// and, as types, the API.

const TEST = '\\.(test|testing|global-setup)\\.tsx?$'
const NOUN = '^server/(access|audit|databases|documents|endpoints|events|health|jobs|nodes|oauth2)/'
const ROUTES = '(^|[/-])routes\\.ts$'
const MODULE = '/module\\.ts$'
// What puts the server together, and the command line.
const ASSEMBLY = '^server/(main|start|modules|app|cli)[./]'
const FEATURE = '^web/(access|audit|databases|documents|endpoints|nodes|search)/'

const rule = (name, comment, from, to) => ({ name, comment, severity: 'error', from, to })

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    rule('no-cycle', 'Modules do not import each other, not even types.', {}, { circular: true }),
    rule(
      'resolvable',
      'Every import leads to a file or an installed package.',
      {},
      {
        couldNotResolve: true,
      },
    ),
    rule(
      'no-test-code',
      'The product does not import code of its tests.',
      { path: '^(server|web|bin)/', pathNot: TEST },
      { path: [TEST, '^(e2e|bench|\\.ci|tools)/'] },
    ),
    rule(
      'no-dev-dependency',
      'The server runs without development dependencies.',
      { path: '^(server|bin)/', pathNot: TEST },
      { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'] },
    ),

    rule(
      'failure',
      'The failures import nothing but the types of their bodies.',
      { path: '^server/failure\\.ts$' },
      { pathNot: '^server/contract/acknowledgement\\.ts$' },
    ),
    rule(
      'contract',
      'The contract imports itself, the failures and zod/mini, since the console loads it.',
      { path: '^server/contract/', pathNot: TEST },
      { pathNot: ['^server/(contract/|failure\\.ts$)', '^node_modules/zod/mini/'] },
    ),
    rule(
      'storage',
      'The storage knows no noun and no HTTP.',
      { path: '^server/storage/', pathNot: TEST },
      { path: '^server/', pathNot: '^server/(storage/|contract/|failure\\.ts$|rate-limit\\.ts$)' },
    ),
    rule(
      'http',
      'What all routes share knows no noun and no storage.',
      { path: '^server/http/', pathNot: TEST },
      { path: '^server/', pathNot: '^server/(http/|contract/|failure\\.ts$|rate-limit\\.ts$)' },
    ),
    rule(
      'noun-below-routes',
      'A noun does not know its routes, its module, the application or its start.',
      { path: NOUN, pathNot: [TEST, ROUTES, MODULE] },
      { path: [ASSEMBLY, ROUTES, '^server/http/'] },
    ),
    rule(
      'routes-above-storage',
      'Routes ask their noun, not the storage.',
      { path: '^server/[^/]+/.*routes\\.ts$' },
      {
        path: [ASSEMBLY, '^server/storage/'],
        dependencyTypesNot: ['type-only'],
      },
    ),
    rule(
      'nouns-apart',
      'Nouns import the types of other nouns at most. They meet in modules and app.',
      { path: '^server/([^/]+)/', pathNot: [TEST, '^server/(cli|contract|http|storage)/'] },
      {
        path: NOUN,
        pathNot: '^server/$1/',
        dependencyTypesNot: ['type-only'],
      },
    ),
    rule(
      'start-above-app',
      'The application does not know how it is started.',
      { path: '^server/app\\.ts$' },
      { path: '^server/(main|start|modules|cli)[./]' },
    ),
    rule(
      'oauth2-client-alone',
      'The OAuth 2.0 client is a package of its own and imports nothing of the server.',
      { path: '^server/oauth2/client\\.ts$' },
      { path: '^server/' },
    ),
    rule(
      'one-place-for-engines',
      'storage/open.ts chooses the engine. Backups copy between engines.',
      {
        path: '^server/',
        pathNot: [TEST, '^server/storage/(sqlite|postgres|backup/)', '^server/storage/open\\.ts$'],
      },
      { path: '^server/storage/(sqlite|postgres)' },
    ),
    rule(
      'drivers-in-storage',
      'Only the storage imports the drivers of the engines.',
      { path: '^(server|web)/', pathNot: [TEST, '^server/storage/'] },
      { path: ['^(node:)?sqlite$', '^node_modules/pg[-/]'] },
    ),
    rule(
      'hono-in-routes',
      'Only routes, http, app and the API client of the console import Hono.',
      {
        path: '^(server|web)/',
        pathNot: [TEST, ROUTES, '^server/(http/|app\\.ts$)', '^web/app/api\\.ts$'],
      },
      { path: '^node_modules/(hono|hono-openapi|@hono)/' },
    ),
    rule(
      'process-in-main',
      'Only the entry points use process. Everything else gets its settings as arguments.',
      {
        path: '^(server|web)/',
        pathNot: [TEST, '^server/(main\\.ts$|documents/schema-worker\\.ts$)'],
      },
      { path: '^(node:)?process$' },
    ),

    rule(
      'console-imports-contract',
      'The console imports the contract, and as types the API.',
      { path: '^web/', pathNot: TEST },
      { path: '^(server|e2e|bench)/', pathNot: '^server/(contract/|app\\.ts$)' },
    ),
    rule(
      'console-api-types',
      'web/app/api.ts alone imports the type of the API.',
      { path: '^web/', pathNot: TEST },
      { path: '^server/app\\.ts$', dependencyTypesNot: ['type-only'] },
    ),
    rule(
      'console-in-browser',
      'The console runs in browsers.',
      { path: '^web/', pathNot: TEST },
      { dependencyTypes: ['core'] },
    ),
    rule(
      'ui-knows-no-feature',
      'The components of web/shared/ui serve every feature and know none.',
      { path: '^web/shared/ui/', pathNot: TEST },
      { path: '^(web|server)/', pathNot: '^web/shared/ui/' },
    ),
    rule(
      'features-apart',
      'Features of the console do not import each other.',
      { path: '^web/([^/]+)/', pathNot: [TEST, '^web/app/'] },
      { path: FEATURE, pathNot: '^web/$1/' },
    ),
    rule(
      'router-above-features',
      'Features do not import what assembles them.',
      { path: '^web/', pathNot: [TEST, '^web/app/'] },
      { path: '^web/app/(main|router)\\.tsx$' },
    ),
  ],
  options: {
    // TypeScript 7 has no API for this yet.
    parser: 'swc',
    doNotFollow: { path: ['^node_modules/', TEST] },
    exclude: { path: ['\\.(css|svg|woff2|json)$'] },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
    },
  },
}
