// The rules that imports follow. `npm run lint` checks them.
//
// Imports of the server point in one direction: main → start → modules, app → <noun>/module →
// <noun>/routes → <noun> → storage. Every layer may import contract (the wire format), failure,
// rate-limit and ip-ranges; http and the nouns also secret, collected-bytes and limited-fetch;
// endpoints, nodes and certificates also policy, which knows neither. The console imports
// contract, failure and the type of the API. Its own imports point in one direction, too: app →
// features → shared → api → ui.

const TEST = '\\.(test|testing|global-setup)\\.tsx?$'
const NOUN =
  '^server/(access|audit|certificates|databases|documents|endpoints|events|feed|health|jobs|nodes|oauth2|overview|requests|webhooks)/'
const ROUTES = '(^|[/-])(routes|describe-components)\\.ts$'
const MODULE = '/module\\.ts$'
// The files that assemble the server, and the command line.
const ASSEMBLY = '^server/(main|start|modules|app|cli)[./]'
const FEATURE = '^web/(access|audit|data|endpoints|overview|search)/'

/** The packages that are bundled into the server. */
const SERVER_PACKAGES = [
  '@hono/node-server',
  '@peculiar/x509',
  'acme-client',
  'ajv',
  'commander',
  'csv-parse',
  'csv-stringify',
  'hono',
  'hono-openapi',
  'kysely',
  'lru-cache',
  'oauth4webapi',
  'oidc-provider',
  'pg',
  'pino',
  'pino-pretty',
  'prom-client',
  'reflect-metadata',
  'standardwebhooks',
  'zod',
]

const rule = (name, comment, from, to) => ({ name, comment, severity: 'error', from, to })

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    rule('no-cycle', 'Imports form no cycles, including imports of types.', {}, { circular: true }),
    rule(
      'resolvable',
      'Every import resolves to a file or an installed package.',
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
      'bundled-packages',
      'The server imports only the packages that docs/dependencies.md lists for it.',
      { path: '^(server|bin)/', pathNot: TEST },
      {
        dependencyTypes: ['npm', 'npm-dev'],
        dependencyTypesNot: ['type-only'],
        pathNot: `^node_modules/(${SERVER_PACKAGES.join('|')})/`,
      },
    ),

    rule(
      'failure',
      'server/failure.ts imports only the types of error bodies.',
      { path: '^server/failure\\.ts$' },
      { pathNot: '^server/contract/acknowledgement\\.ts$' },
    ),
    rule(
      'contract',
      'The contract imports only itself, failure.ts and zod/mini, because the console loads it.',
      { path: '^server/contract/', pathNot: TEST },
      { pathNot: ['^server/(contract/|failure\\.ts$)', '^node_modules/zod/mini/'] },
    ),
    rule(
      'storage',
      'The storage imports no noun and no HTTP code.',
      { path: '^server/storage/', pathNot: TEST },
      {
        path: '^server/',
        pathNot: '^server/(storage/|contract/|concurrency/|(failure|rate-limit|ip-ranges)\\.ts$)',
      },
    ),
    rule(
      'concurrency',
      'The order of concurrent work does not depend on the work.',
      { path: '^server/concurrency/', pathNot: TEST },
      { path: '^server/', pathNot: '^server/(concurrency/|failure\\.ts$)' },
    ),
    rule(
      'http',
      'server/http is shared by all routes and imports no noun and no storage.',
      { path: '^server/http/', pathNot: TEST },
      {
        path: '^server/',
        pathNot:
          '^server/(http/|contract/|concurrency/|(failure|rate-limit|ip-ranges|secret|collected-bytes)\\.ts$)',
      },
    ),
    rule(
      'noun-below-routes',
      'A noun imports neither its routes nor its module, the application or its start.',
      { path: NOUN, pathNot: [TEST, ROUTES, MODULE] },
      { path: [ASSEMBLY, ROUTES, '^server/http/'] },
    ),
    rule(
      'routes-above-storage',
      'Routes call their noun, not the storage.',
      { path: '^server/[^/]+/.*routes\\.ts$' },
      {
        path: [ASSEMBLY, '^server/storage/'],
        dependencyTypesNot: ['type-only'],
      },
    ),
    rule(
      'nouns-apart',
      'Nouns import only types of other nouns. modules.ts and app.ts connect them.',
      { path: '^server/([^/]+)/', pathNot: [TEST, '^server/(cli|contract|http|storage)/'] },
      {
        path: NOUN,
        pathNot: '^server/$1/',
        dependencyTypesNot: ['type-only'],
      },
    ),
    rule(
      'start-above-app',
      'The application does not import the code that starts it.',
      { path: '^server/app\\.ts$' },
      { path: '^server/(main|start|modules|cli)[./]' },
    ),
    rule(
      'oauth2-client-alone',
      'The OAuth 2.0 client is a separate package and imports nothing of the server.',
      { path: '^server/oauth2/client\\.ts$' },
      { path: '^server/' },
    ),
    rule(
      'engines-behind-open',
      'storage/open.ts chooses the engine. Backups copy between engines.',
      {
        path: '^server/',
        pathNot: [TEST, '^server/storage/(sqlite|postgres|backup/)', '^server/storage/open\\.ts$'],
      },
      { path: '^server/storage/(sqlite|postgres)' },
    ),
    rule(
      'loaded-on-demand',
      'A node on SQLite without requests does not need these, so they are imported with import().',
      {
        path: '^server/',
        pathNot: [
          TEST,
          '^server/storage/(postgres|backup)/',
          '^server/oauth2/local/',
          '^server/documents/schemas/(schema-worker|compile-schema|keywords)\\.ts$',
        ],
      },
      {
        path: [
          '^server/storage/postgres/',
          '^server/documents/schemas/(compile-schema|keywords)\\.ts$',
          '^server/oauth2/local/(local-provider|local-issuer|oidc-provider)\\.ts$',
          '^server/certificates/(x509|acme/directory-client)\\.ts$',
          '^node_modules/(ajv|oidc-provider|pg|pino-pretty)/',
          '^node_modules/@hono/node-server/dist/index\\.',
        ],
        dynamic: false,
        dependencyTypesNot: ['type-only'],
      },
    ),
    rule(
      'drivers-in-storage',
      'Only the storage imports database drivers.',
      { path: '^(server|web)/', pathNot: [TEST, '^server/storage/'] },
      { path: ['^(node:)?sqlite$', '^node_modules/pg[-/]'] },
    ),
    rule(
      'hono-in-routes',
      'Only routes, http, app and the API client of the console import Hono.',
      {
        path: '^(server|web)/',
        pathNot: [TEST, ROUTES, '^server/(http/|app\\.ts$)', '^web/api/client\\.ts$'],
      },
      { path: '^node_modules/(hono|hono-openapi|@hono)/' },
    ),
    rule(
      'process-in-main',
      'Only entry points use process. Other code receives its settings as arguments.',
      {
        path: '^(server|web)/',
        // `nextTick` is no setting.
        pathNot: [TEST, '^server/(main|concurrency/turn-share)\\.ts$'],
      },
      { path: '^(node:)?process$' },
    ),

    rule(
      'console-imports-contract',
      'The console imports the contract, its failures and the type of the API.',
      { path: '^web/', pathNot: TEST },
      { path: '^(server|e2e|bench)/', pathNot: '^server/(contract/|(app|failure)\\.ts$)' },
    ),
    rule(
      'console-api-types',
      'The console imports app.ts only as a type.',
      { path: '^web/', pathNot: TEST },
      { path: '^server/app\\.ts$', dependencyTypesNot: ['type-only'] },
    ),
    rule(
      'console-in-browser',
      'The console runs in browsers and imports no Node.js modules.',
      { path: '^web/', pathNot: TEST },
      { dependencyTypes: ['core'] },
    ),
    rule(
      'ui-below-api',
      'web/ui imports nothing else of the console.',
      { path: '^web/ui/', pathNot: TEST },
      { path: '^(web|server)/', pathNot: '^web/ui/' },
    ),
    rule(
      'api-below-features',
      'web/api imports only web/ui.',
      { path: '^web/api/', pathNot: TEST },
      { path: '^web/', pathNot: '^web/(api|ui)/' },
    ),
    rule(
      'shared-below-features',
      'web/shared imports only web/api and web/ui.',
      { path: '^web/shared/', pathNot: TEST },
      { path: '^web/', pathNot: '^web/(shared|api|ui)/' },
    ),
    rule(
      'features-apart',
      'Features of the console import neither each other nor web/app.',
      { path: '^web/([^/]+)/', pathNot: [TEST, '^web/app/'] },
      { path: [FEATURE, '^web/app/'], pathNot: '^web/$1/' },
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
