import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { loadConfiguration } from '../../packages/server/src/configuration/load.ts'
import { startServer } from '../support/patient-server.ts'
import { reservedPort } from '../support/reserved-port.ts'
import { createHttpBrowser, signInOverHttp } from '../support/sign-in.ts'
import { base, directories, file } from './operator-server.ts'
import { printed } from './printed.ts'
import { root } from './running-command.ts'

test('grantry revoke --subject signs the user out: a stolen session gets no new tokens', async () => {
  const port = await reservedPort()
  const issuer = `http://127.0.0.1:${port}`
  const redirect_uri = 'https://client.example.com/callback'
  const configuration = JSON.parse(readFileSync(file(directories()), 'utf8'))
  const path = join(mkdtempSync(join(base, 'sessions-')), 'grantry.config.json')
  const client = { clientId: 'web', secrets: configuration.clients[0].secrets, scopes: ['openid'] }
  const content = {
    ...configuration,
    issuer,
    keys: undefined,
    clients: [{ ...client, grantTypes: ['authorization_code'], redirectUris: [redirect_uri] }],
    plugins: [{ name: 'sign-in' }],
  }
  writeFileSync(path, JSON.stringify(content))
  const server = await startServer({ loaded: await loadConfiguration(path, {}), port, observe: () => {} })
  onTestFinished(() => server.close(0))

  const browser = createHttpBrowser()
  const request = { client_id: 'web', redirect_uri, scope: 'openid' }
  await signInOverHttp(issuer, request, ['alice', 'alice-password'], browser)
  const silent = new URLSearchParams({ ...request, response_type: 'code', prompt: 'none' })
  const ask = async () => new URL((await browser.visit(`${issuer}/connect/authorize?${silent}`, redirect_uri)).url)
  expect((await ask()).searchParams.has('code')).toBe(true)
  expect((await printed('revoke', '--subject', '1', '--config', path)).out).toContain('and ended 1 session.')
  expect((await ask()).searchParams.get('error')).toBe('login_required')
})

test('grantry revoke --subject ends sessions of any plugin that offers them, also of another copy of the packages', async () => {
  const configuration = JSON.parse(readFileSync(file(directories()), 'utf8'))
  const path = join(base, 'copy.mjs')
  // The built files, as if the configuration had its own packages.
  writeFileSync(
    path,
    `import { defineHostFunctions, definePlugin, hostKey } from '${root}/packages/core/dist/index.js'
const key = hostKey('user-sessions', 'cards()')
const create = () => ({ endAll: async (sub) => (sub === '1' ? 3 : 0) })
const cards = definePlugin('cards', [defineHostFunctions(key, create)])
export default { ...${JSON.stringify(configuration)}, plugins: [[cards]] }
`,
  )
  expect((await printed('revoke', '--subject', '1', '--config', path)).out).toContain('and ended 3 sessions.')
})
