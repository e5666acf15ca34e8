// Sessions and consents of users, by command, while a server runs on the same storage.
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { sha256Of } from '@grantry/testing'
import { expect, onTestFinished, test } from 'vitest'
import { loadConfiguration } from '../../packages/server/src/configuration/load.ts'
import { printed, printedWith } from '../server/printed.ts'
import { root } from '../server/running-command.ts'
import { startServer } from '../support/patient-server.ts'
import { reservedPort } from '../support/reserved-port.ts'
import { newDirectory } from '../support/server-program.ts'
import { createHttpBrowser, signInOverHttp } from '../support/sign-in.ts'

const redirect_uri = 'https://client.example.com/callback'
const request = { client_id: 'web', redirect_uri, scope: 'openid' }
const password = 'correct horse battery'

/** A server with alice in its storage, who has signed in in two browsers, and consented once. */
async function signedIn(scope = 'openid') {
  const port = await reservedPort()
  const issuer = `http://127.0.0.1:${port}`
  const path = join(newDirectory(), 'grantry.config.json')
  const secrets = [{ sha256: sha256Of('web-secret') }]
  const client = {
    clientId: 'web',
    secrets,
    scopes: ['openid', 'offline_access'],
    grantTypes: ['authorization_code', 'refresh_token'],
    redirectUris: [redirect_uri],
  }
  const storage = { driver: 'filesystem', directory: './data', fsync: false }
  const setting = { issuer, storage, administration: true, clients: [client], plugins: [{ name: 'sign-in' }] }
  writeFileSync(path, JSON.stringify(setting), { mode: 0o600 })
  const json = async (...line: readonly string[]) => {
    const { code, out, err } = await printedWith({ input: `${password}\n` }, ...line, '--config', path, '--json')
    expect({ code, err }).toEqual({ code: 0, err: '' })
    return JSON.parse(out)
  }
  await json('users', 'add', 'alice', '--sub', 'a')
  const server = await startServer({ loaded: await loadConfiguration(path, {}), port, observe: () => {} })
  onTestFinished(() => server.close(0))
  const browsers = [createHttpBrowser(), createHttpBrowser()] as const
  for (const browser of browsers) await signInOverHttp(issuer, { ...request, scope }, ['ALICE', password], browser)
  const silent = new URLSearchParams({ ...request, response_type: 'code', prompt: 'none' })
  const outcomes = () =>
    Promise.all(
      browsers.map(async (browser) => {
        const { searchParams } = new URL(
          (await browser.visit(`${issuer}/connect/authorize?${silent}`, redirect_uri)).url,
        )
        return searchParams.get('error') ?? 'code'
      }),
    )
  const fails = async (...line: readonly string[]) => (await printed(...line, '--config', path)).err
  return { path, json, fails, outcomes }
}

test('sessions are listed and ended: one, or all', async () => {
  const { json, fails, outcomes } = await signedIn()
  expect(await outcomes()).toEqual(['code', 'code'])
  const sessions: { sid: string }[] = await json('users', 'sessions', 'list', 'alice')
  expect(sessions).toHaveLength(2)
  expect(JSON.stringify(sessions)).not.toContain('secret')
  const [{ sid }] = sessions as [{ sid: string }]
  expect(await json('users', 'sessions', 'end', 'a', sid)).toEqual({ ended: 1 })
  expect((await outcomes()).sort()).toEqual(['code', 'login_required'])
  expect(await fails('users', 'sessions', 'end', 'a', sid)).toContain(`the user a (alice) has no session ${sid}`)
  expect(await json('users', 'sessions', 'end', 'alice')).toEqual({ ended: 1 })
  expect(await outcomes()).toEqual(['login_required', 'login_required'])
  const trail: { action: string; id: string }[] = await json('audit')
  expect(trail.map(({ action, id }) => [action, id])).toEqual([
    ['user_sessions_ended', 'a'],
    ['user_session_ended', 'a'],
    ['user_added', 'a'],
  ])
})

test('consents are listed and revoked, and the user is asked again', async () => {
  const { json, fails, outcomes } = await signedIn()
  expect(await json('users', 'consents', 'list', 'alice')).toEqual([
    { clientId: 'web', scopes: ['openid'], claims: [] },
  ])
  await json('users', 'consents', 'revoke', 'alice', 'web')
  expect(await outcomes()).toEqual(['consent_required', 'consent_required'])
  expect(await json('users', 'consents', 'list', 'alice')).toEqual([])
  expect(await fails('users', 'consents', 'revoke', 'alice', 'web')).toContain(
    'the user a (alice) has not consented to the client web',
  )
})

test('one of the installations of a client is ended', async () => {
  const { json, fails } = await signedIn('openid offline_access')
  const list = (user = 'alice'): Promise<{ family: string }[]> => json('users', 'authorizations', 'list', user)
  const listed = await list()
  expect(listed).toHaveLength(2)
  expect(listed[0]).toMatchObject({ clientId: 'web', scopes: ['openid', 'offline_access'], audiences: [] })
  const { family = '' } = listed[0] ?? {}
  expect(await json('users', 'authorizations', 'end', 'alice', family)).toEqual({ family, ended: true })
  expect(await list()).toEqual([listed[1]])
  await json('users', 'add', 'bob', '--sub', 'b')
  expect(await fails('users', 'authorizations', 'end', 'b', listed[1]?.family ?? '')).toContain(
    `the user b (bob) has no authorization ${listed[1]?.family}`,
  )
  expect(await list()).toEqual([listed[1]])
  const [last]: { action: string; id: string }[] = await json('audit', '--id', 'a')
  expect(last).toMatchObject({ action: 'user_authorization_ended', before: { family, clientId: 'web' } })
})

test('a user who is disabled while signed in gets no code, in any browser, from this moment', async () => {
  const { json, outcomes } = await signedIn()
  expect(await json('users', 'disable', 'alice')).toMatchObject({ active: false })
  expect(await outcomes()).toEqual(['login_required', 'login_required'])
  await json('users', 'enable', 'alice')
  expect(await outcomes()).toEqual(['login_required', 'login_required'])
  expect(await json('users', 'sessions', 'list', 'alice')).toEqual([])
})

test('second factors are reset by the functions of the configuration, and the user is signed out', async () => {
  const { path, fails, json, outcomes } = await signedIn()
  const setting = JSON.parse(readFileSync(path, 'utf8'))
  // The built files, as if the configuration had its own packages.
  const removed = join(dirname(path), 'removed')
  const module = join(dirname(path), 'grantry.config.mjs')
  writeFileSync(
    module,
    `import { appendFileSync } from 'node:fs'
import { defineHostFunctions, definePlugin, hostKey } from '${root}/packages/core/dist/index.js'
const reset = async (sub) => appendFileSync(${JSON.stringify(removed)}, sub)
const create = () => ({ withoutReset: [], reset })
const factors = definePlugin('cards', [defineHostFunctions(hostKey('second-factors', 'cards()'), create)])
export default { ...${JSON.stringify(setting)}, plugins: [{ name: 'sign-in' }, factors] }
`,
  )
  const reset = ['users', 'second-factors', 'reset', 'alice'] as const
  // The configuration that the server has offers none.
  expect(await fails(...reset)).toContain('no plugin of this server can reset second factors')
  expect(await outcomes()).toEqual(['code', 'code'])
  const { code, out, err } = await printed(...reset, '--config', module, '--json')
  expect({ code, err, out: JSON.parse(out) }).toEqual({
    code: 0,
    err: '',
    out: { sub: 'a', reset: true, removed: {}, endedSessions: 2 },
  })
  // Again after the sessions have ended.
  expect(readFileSync(removed, 'utf8')).toBe('aa')
  expect(await outcomes()).toEqual(['login_required', 'login_required'])
  expect((await json('audit'))[0]).toMatchObject({ action: 'user_second_factors_reset', id: 'a', outcome: 'done' })
})
