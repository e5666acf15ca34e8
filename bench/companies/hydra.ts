// Ory Hydra, with the sign-in of an application: it needs one, since it has no pages and no users.
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { reservedPort } from '../../test/support/reserved-port.ts'
import * as o from '../operations.ts'
import { cpuOf, memoryOf } from '../run/process-figures.ts'
import { issueMany, type Setting } from '../setting.ts'
import { runProgram, startListening } from './program.ts'
import type { CompanyProcess, CompanyServer } from './server.ts'
import { authorizationOf, cookieHeader, type Jar, type Step, startWalker, walk } from './walk.ts'

const routes = {
  [o.paths.authorization]: '/oauth2/auth',
  [o.paths.token]: '/oauth2/token',
  [o.paths.introspection]: '/admin/oauth2/introspect',
  [o.paths.userinfo]: '/userinfo',
}

interface Ports {
  readonly open: number
  readonly admin: number
}

const configurationOf = (setting: Setting, { open, admin }: Ports, hashers: object) => ({
  dsn: `${setting.storeUrl}?sslmode=disable&max_conns=10`,
  serve: { public: { host: '127.0.0.1', port: open }, admin: { host: '127.0.0.1', port: admin } },
  urls: {
    self: { issuer: `http://127.0.0.1:${open}` },
    login: 'http://127.0.0.1/login',
    consent: 'http://127.0.0.1/consent',
  },
  secrets: { system: ['a-secret-of-the-benchmark-of-hydra'] },
  strategies: { jwt: { scope_claim: 'string' } },
  oauth2: { hashers },
  ttl: { access_token: `${o.accessTokenLifetime}s`, auth_code: `${o.codeLifetime}s` },
  sqa: { opt_out: true },
})

/** Sends JSON to the administration. */
async function administer(port: number, method: string, path: string, body?: object): Promise<unknown> {
  const response = await fetch(`http://127.0.0.1:${port}/admin${path}`, {
    method,
    headers: { 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${path}: status ${response.status} ${text.slice(0, 500)}`)
  return text === '' ? undefined : JSON.parse(text)
}

const clientOf = ([client_id, client_secret]: readonly [string, string], more: object) => ({
  client_id,
  client_secret,
  token_endpoint_auth_method: 'client_secret_basic',
  scope: 'api1 openid profile offline_access',
  skip_consent: true,
  ...more,
})

/** Creates the clients, and keys for ES256 as all other servers have. */
async function prepare(admin: number): Promise<void> {
  for (const set of ['hydra.openid.id-token', 'hydra.jwt.access-token']) {
    await administer(admin, 'DELETE', `/keys/${set}`)
    await administer(admin, 'POST', `/keys/${set}`, { alg: 'ES256', use: 'sig', kid: `${set}-es256` })
  }
  const grantTypes = ['client_credentials', 'authorization_code', 'refresh_token']
  await administer(
    admin,
    'POST',
    '/clients',
    clientOf(o.opaqueClient, { grant_types: grantTypes, response_types: ['code'], redirect_uris: [o.redirectUri] }),
  )
  await administer(
    admin,
    'POST',
    '/clients',
    clientOf(o.jwtClient, { grant_types: ['client_credentials'], access_token_strategy: 'jwt' }),
  )
}

/** The application: it accepts each sign-in and consent, without asking what is requested. */
const applicationOf =
  (admin: number): Step =>
  async (location, scopes) => {
    const parameters = new URL(location).searchParams
    const login = parameters.get('login_challenge')
    const consent = parameters.get('consent_challenge')
    if (login === null && consent === null) return location
    const [kind, challenge] = login === null ? ['consent', consent ?? ''] : ['login', login]
    const path = `/oauth2/auth/requests/${kind}/accept?${kind}_challenge=${encodeURIComponent(challenge)}`
    const body =
      kind === 'login'
        ? { subject: o.user.sub, remember: true, remember_for: 86_400 }
        : { grant_scope: scopes, session: { id_token: o.user.claims } }
    return ((await administer(admin, 'PUT', path, body)) as { readonly redirect_to: string }).redirect_to
  }

async function issueOne(base: string, operation: o.PresentingOperation, step: Step): Promise<string> {
  const jar: Jar = new Map()
  const url = await walk(
    base + authorizationOf(routes[o.paths.authorization] ?? '', o.issuedScopes[operation]),
    jar,
    step,
  )
  if (operation === o.signInOperation)
    return cookieHeader(new Map([...jar].filter(([name]) => name.startsWith('ory_hydra_session'))))
  const code = new URL(url).searchParams.get('code') ?? ''
  const response = await fetch(`${base}/oauth2/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(o.opaqueClient.join(':'))}` },
    body: new URLSearchParams({ grant_type: 'authorization_code', code, redirect_uri: o.redirectUri }),
  })
  const tokens = (await response.json()) as Readonly<Record<string, string>>
  const token = tokens[operation === 'refresh' ? 'refresh_token' : 'access_token']
  if (token === undefined) throw new Error(`No token: ${JSON.stringify(tokens)}`)
  return token
}

const prepared = new Set<string>()

async function launch(binary: string, hashers: object, setting: Setting): Promise<CompanyProcess> {
  const { storeUrl = '' } = setting
  const ports = { open: await reservedPort(), admin: await reservedPort() }
  const directory = mkdtempSync(join(tmpdir(), 'grantry-bench-'))
  const [configuration, log] = [join(directory, 'hydra.json'), join(directory, 'log')]
  writeFileSync(configuration, JSON.stringify(configurationOf(setting, ports, hashers)))
  const isFirst = !prepared.has(storeUrl)
  if (isFirst) await runProgram([binary, 'migrate', 'sql', 'up', '-e', '--yes', '-c', configuration], log)
  const command = [binary, 'serve', 'all', '--dev', '--sqa-opt-out', '-c', configuration]
  const running = await startListening(command, log, ports.open, '/health/ready')
  if (isFirst) await prepare(ports.admin)
  prepared.add(storeUrl)
  const step = applicationOf(ports.admin)
  const base = `http://127.0.0.1:${ports.open}`
  const walker = await startWalker(base, routes[o.paths.authorization] ?? '', step)
  const { pid, startedAt } = running
  return {
    pid,
    startedAt,
    port: ports.open,
    ports: { introspection: ports.admin, 'sign-in': walker.port },
    dialect: { routes, ownTokens: true },
    async issue(operation, count) {
      return o.presentsIssued(operation) ? issueMany(count, () => issueOne(base, operation, step)) : []
    },
    cpu: () => cpuOf(pid),
    memory: () => memoryOf(pid),
    async stop() {
      await running.stop()
      walker.stop()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

/** Hydra with one round of its hash of secrets, and with its default. */
export const hydraServers = (binary: string): readonly CompanyServer[] =>
  [
    { name: 'hydra (one round)', hashers: { algorithm: 'pbkdf2', pbkdf2: { iterations: 1 } } },
    { name: 'hydra', hashers: {} },
  ].map(({ name, hashers }) => ({
    name,
    version: 'by hand',
    jwks: '/.well-known/jwks.json',
    launch: (setting: Setting) => launch(binary, hashers, setting),
    disk: () => statSync(binary).size,
  }))
