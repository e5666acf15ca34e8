import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import express from 'express'
import { listen, scope } from './shell.js'

/** oidc-client-ts in a page, as a public client. */
export async function start({ issuer, port, clientId }) {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('oidc-client-ts-page.js', import.meta.url))],
    bundle: true,
    write: false,
    format: 'esm',
    define: { SETTING: JSON.stringify({ issuer, clientId, scope }) },
  })
  const app = express()
  app.get('/page.js', (_, response) => response.type('text/javascript').send(outputFiles[0].text))
  app.get(['/', '/callback'], (_, response) =>
    response.send(
      '<!doctype html><html lang="en"><title>Application</title><body><script type="module" src="/page.js"></script>',
    ),
  )
  await listen(app, port)
}
