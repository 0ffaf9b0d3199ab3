import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'
import { compressAssets } from './tools/compress-assets.ts'
import { CHUNKS, PAGES, paintSkeletonFirst } from './tools/console-chunks.ts'

/** Where `npm run dev` expects the server: the default of `--endpoint`. */
const SERVER = 'http://127.0.0.1:8529'

/** Serves the sign-in page at the path at which the server does. */
const signInPage: Plugin = {
  name: 'sign-in-page',
  configureServer(server) {
    server.middlewares.use((request, _, next) => {
      request.url = request.url?.replace(/^\/_console\/sign-in(?=\?|$)/, '/_console/sign-in.html')
      next()
    })
  },
}

/** The build of the console, and its development server. */
export default defineConfig({
  base: '/_console/',
  publicDir: 'web/public',
  plugins: [react(), signInPage, paintSkeletonFirst, compressAssets],
  build: {
    outDir: 'dist/console',
    emptyOutDir: true,
    // The console's policy allows fonts and pictures from its own origin, not from data: URLs.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: {
      input: PAGES,
      // Creating a schema has no side effects, so unused schemas are removed from the console.
      treeshake: { manualPureFunctions: ['z'] },
      output: {
        codeSplitting: { groups: CHUNKS },
      },
    },
  },
  server: {
    host: '127.0.0.1',
    port: 5173,
    strictPort: true,
    proxy: Object.fromEntries(
      // The Host header stays the browser's: the server compares it with the request's origin.
      ['/_db', '/_api', '/_oauth2', '/_idp'].map((path) => [
        path,
        { target: SERVER, changeOrigin: false },
      ]),
    ),
  },
})
