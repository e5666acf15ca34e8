/**
 * A site with its own login in a real Next.js, by the packages that are built: users sign in, an edit during development
 * replaces the provider and keeps what is stored, and a build opens nothing.
 */
import { createHash } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { describeWith } from '../support/describe-with.ts'
import { newDirectory } from '../support/directory.ts'
import { runProgram } from '../support/program.ts'
import { foreignHashes, password } from '../users/hash-vectors.ts'

const folder = fileURLToPath(new URL('.', import.meta.url))
const next = `${folder}node_modules/next/dist/bin/next`

function missing(): string | undefined {
  if (!existsSync(next)) return 'Install Next.js: npm ci --prefix test/bundlers'
  return existsSync(`${folder}../../packages/next/dist`) ? undefined : 'packages/next is not built: npm run build'
}

/** Copies the site, so that the test can edit it. Next.js finds its packages above, and writes below. */
function copySite() {
  const directory = `${folder}dist/site-${process.pid}`
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  mkdirSync(directory, { recursive: true })
  cpSync(`${folder}site`, directory, { recursive: true })
  const storage = newDirectory()
  const log = `${storage}.log`
  const environment = {
    ...{ SITE_STORAGE: storage, SITE_LOG: log, SITE_HASH: foreignHashes.argon2id ?? '' },
    NEXT_TELEMETRY_DISABLED: '1',
  }
  const run = (mode: string, ...more: readonly string[]) => {
    // Vitest sets another value, with which Next.js does not work.
    const nodeEnv = mode === 'dev' ? 'development' : 'production'
    const started = [process.execPath, next, mode, ...more]
    return runProgram(started, { cwd: directory, environment: { ...environment, NODE_ENV: nodeEnv } })
  }
  return {
    run,
    opened: () => (existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : []),
    edit(from: string, to: string): void {
      const file = `${directory}/grantry.js`
      writeFileSync(file, readFileSync(file, 'utf8').replace(from, to))
    },
    async start(mode: 'dev' | 'start') {
      const program = run(mode, '--port', '0', '--hostname', '127.0.0.1')
      onTestFinished(async () => {
        program.signal('SIGTERM')
        await program.ended
      })
      const address = () => /https?:\/\/[\d.]+:\d+/u.exec(program.output().out)?.[0]
      await expect.poll(address).toBeDefined()
      return createVisitor(address() ?? '')
    },
  }
}

const redirectUri = 'https://client.example.com/callback'
const request = { client_id: 'web', redirect_uri: redirectUri, response_type: 'code', scope: 'openid' }

/** A browser and a client of the site at an address. */
function createVisitor(base: string) {
  const cookies = new Map<string, string>()

  async function open(path: string, body?: FormData | URLSearchParams, headers: Record<string, string> = {}) {
    const cookie = [...cookies].map((pair) => pair.join('=')).join('; ')
    const init = body === undefined ? {} : { method: 'POST', body }
    const sent = { cookie, origin: base, connection: 'close', ...headers }
    const response = await fetch(base + path, { ...init, headers: sent, redirect: 'manual' })
    for (const set of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/u.exec(set) ?? []
      cookies.set(name, value)
    }
    const location = new URL(response.headers.get('location') ?? base, base)
    return { status: response.status, location, text: await response.text() }
  }

  const token = (clientId: string, fields: Record<string, string>) =>
    open('/id/connect/token', new URLSearchParams(fields), {
      authorization: `Basic ${btoa(`${clientId}:site-secret`)}`,
    })

  return {
    open,
    token,
    /** Signs in on the page of the site, unless the browser has a session, and returns the code. */
    async code(): Promise<string> {
      const asked = await open(`/id/authorize?${new URLSearchParams(request)}`)
      if (asked.location.href.startsWith(redirectUri)) return asked.location.searchParams.get('code') ?? ''
      expect(asked.location.href).toMatch(/^https:\/\/site\.example\.com\/login\?/u)
      const { pathname, search } = asked.location
      const page = await open(pathname + search)
      const form = new FormData()
      for (const [, name = '', value = ''] of page.text.matchAll(
        /<input type="hidden" name="([^"]+)"(?: value="([^"]*)")?/gu,
      ))
        form.set(name, value.replaceAll('&quot;', '"').replaceAll('&amp;', '&'))
      form.set('username', 'alice')
      form.set('password', password)
      const signedIn = await open(pathname + search, form)
      const answered = await open(signedIn.location.pathname + signedIn.location.search)
      expect(answered.location.href).toMatch(new RegExp(`^${redirectUri}`, 'u'))
      return answered.location.searchParams.get('code') ?? ''
    },
    /** Signs in at the site as an application, and returns what its pages show. The browser has a session at the provider. */
    async application() {
      const shown = async () => {
        const { text } = await open('/account')
        const [, line] = /<p>(.*?)<\/p>/u.exec(text.replaceAll('<!-- -->', '')) ?? []
        return [line, (await open('/token')).status]
      }
      const before = await shown()
      let { location } = await open('/auth/login?returnTo=/account')
      // To the provider, and back.
      for (let step = 0; step < 2; step += 1) ({ location } = await open(location.pathname + location.search))
      const during = await shown()
      await open('/auth/logout', new URLSearchParams(), { origin: 'https://site.example.com' })
      return { before, location: location.href, during, after: await shown() }
    },
    redeem: (code: string) => token('web', { grant_type: 'authorization_code', code, redirect_uri: redirectUri }),
    service: (clientId: string) => token(clientId, { grant_type: 'client_credentials', scope: 'api' }),
    keys: async () =>
      createHash('sha256')
        .update((await open('/id/.well-known/jwks')).text)
        .digest('hex'),
  }
}

type Visitor = ReturnType<typeof createVisitor>

/** What a site has in both modes. */
async function expectSite({ open, code, redeem, application }: Visitor): Promise<void> {
  const before = await open('/.well-known/oauth-authorization-server/id')
  expect(JSON.parse(before.text)).toMatchObject({ authorization_endpoint: 'https://site.example.com/id/authorize' })
  const unknown = await open('/nothing')
  expect(unknown).toMatchObject({ status: 404, text: expect.stringContaining('The page of the site') })
  expect(await redeem(await code())).toMatchObject({ status: 200, text: expect.stringContaining('id_token') })
  const out = ['Signed out', 401]
  expect(await application()).toEqual({
    before: out,
    location: 'https://site.example.com/account',
    during: ['This is user 1.', 200],
    after: out,
  })
}

describeWith(missing(), 'a site of Next.js', () => {
  test('keeps keys, session and codes after an edit, and closes the former provider', async () => {
    const site = copySite()
    const visitor = await site.start('dev')
    await expectSite(visitor)
    const code = await visitor.code()
    const keys = await visitor.keys()
    expect((await visitor.service('edited-service')).status).toBe(401)
    site.edit("'web' // The test edits this line.", "'edited'")
    await expect.poll(async () => (await visitor.service('edited-service')).status).toBe(200)
    expect((await visitor.redeem(code)).status).toBe(200)
    expect(await visitor.keys()).toBe(keys)
    expect((await visitor.redeem(await visitor.code())).status).toBe(200)
    // Each copy of the module in development has replaced the one before.
    const isOneOpen = () =>
      site.opened().filter((word) => word === 'opened').length - 1 ===
      site.opened().filter((word) => word === 'closed').length
    await expect.poll(isOneOpen).toBe(true)
  })

  test('opens nothing while it is built, and one provider when it starts', async () => {
    const site = copySite()
    const build = site.run('build')
    expect(await build.ended, JSON.stringify(build.output())).toBe(0)
    expect(site.opened()).toEqual([])
    const visitor = await site.start('start')
    await expect.poll(site.opened).toEqual(['opened'])
    await expectSite(visitor)
    // Each other copy of the module has compared its issuer, and closed its storage.
    const count = (word: string) => site.opened().filter((line) => line === word).length
    expect(count('opened') - count('closed')).toBe(1)
  })
})
