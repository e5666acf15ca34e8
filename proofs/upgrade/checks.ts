import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from 'jose'
import { differentTokens } from '../../test/support/same-tokens.ts'
import { retried, strict } from './setting.ts'
import { createUser, type Form, isActive, type NextServer, post, type Reply, refreshForm } from './user.ts'

/** Servers of two versions, at one store. */
export interface Service {
  /** The origins of the servers of each version. */
  readonly older: readonly string[]
  readonly newer: readonly string[]
  /** The program of each version, the older one first, and the parameters that name its configuration. */
  readonly commands: readonly (readonly [program: string, ...parameters: string[]])[]
}

/** Looks at one round of what must hold. Returns what was broken. */
export type Check = (service: Service, round: number) => Promise<readonly string[]>

const byItself: Form = { grant_type: 'client_credentials', scope: 'api1' }

/** Requests that present one credential, at the same moment. */
const racers = 16

/** The servers in turn, of one version after the other. */
function alternating({ older, newer }: Service): readonly string[] {
  return older.flatMap((origin, index) => [origin, newer[index] ?? origin])
}

/** Returns each server in turn. */
function inTurn(origins: readonly string[], start = 0): NextServer {
  let turn = start
  return () => origins[turn++ % origins.length] ?? ''
}

const race = (service: Service, form: Form, as: typeof strict): Promise<readonly Reply[]> => {
  const next = inTurn(alternating(service))
  return Promise.all(Array.from({ length: racers }, () => post(next(), 'token', form, as)))
}

const refusals = (replies: readonly Reply[]): string =>
  JSON.stringify([...new Set(replies.filter(({ status }) => status !== 200).map(({ status, body }) => [status, body]))])

function oneWinner(replies: readonly Reply[]): readonly string[] {
  const winners = replies.filter(({ status }) => status === 200)
  const others = replies.filter(({ status, body }) => status !== 200 && body.error !== 'invalid_grant')
  return [
    ...(winners.length === 1 ? [] : [`${winners.length} of ${racers} redeemed it: ${refusals(replies)}`]),
    ...(others.length === 0 ? [] : [`another refusal than invalid_grant: ${refusals(others)}`]),
  ]
}

async function tokensOf(service: Service, round: number, as: typeof strict): Promise<Reply['body']> {
  const form = await createUser(round).code(inTurn(alternating(service), round), as)
  const { status, body } = await post(alternating(service)[round % 2] ?? '', 'token', form, as)
  if (status !== 200) throw new Error(`a code was refused: ${status} ${JSON.stringify(body)}`)
  return body
}

const code: Check = async (service, round) => {
  const form = await createUser(round).code(inTurn(alternating(service), round), strict)
  return oneWinner(await race(service, form, strict))
}

const refreshOnce: Check = async (service, round) => {
  const { refresh_token } = await tokensOf(service, round, strict)
  const replies = await race(service, refreshForm(refresh_token), strict)
  const [winner] = replies.filter(({ status }) => status === 200)
  // The other racers have replayed it, so the family is revoked, for both versions.
  const active = await Promise.all(alternating(service).map((origin) => isActive(origin, winner?.body.access_token)))
  return [...oneWinner(replies), ...(active.includes(true) ? [`a revoked family is active: ${active}`] : [])]
}

const refreshAgain: Check = async (service, round) => {
  const { refresh_token } = await tokensOf(service, round, retried)
  const replies = await race(service, refreshForm(refresh_token), retried)
  const winners = replies.filter(({ status }) => status === 200)
  const different = differentTokens(winners).length
  const [first] = winners
  const next = await post(alternating(service)[1] ?? '', 'token', refreshForm(first?.body.refresh_token), retried)
  return [
    ...(winners.length === racers ? [] : [`${winners.length} of ${racers} got the tokens: ${refusals(replies)}`]),
    ...(different === 1 ? [] : [`${different} different sets of tokens`]),
    ...(next.status === 200 ? [] : [`the new refresh token was refused: ${JSON.stringify(next.body)}`]),
  ]
}

/** What one version has stored, at the other one: session and consent, access token, refresh token, revocation. */
const crossing =
  (writers: 'older' | 'newer', readers: 'older' | 'newer'): Check =>
  async (service, round) => {
    const [writer = '', reader = ''] = [service[writers][round % 2], service[readers][round % 2]]
    const user = createUser(10_000 + round)
    const form = await user.code(() => writer, strict)
    const faults: string[] = []
    const expect = (what: string, holds: boolean): void => void (holds || faults.push(what))
    // The code at the reader; the tokens of the writer at the reader.
    const tokens = await post(reader, 'token', form, strict)
    expect(`a code was refused: ${JSON.stringify(tokens.body)}`, tokens.status === 200)
    const silent = await user.code(() => reader, strict, { prompt: 'none' }).catch((error: Error) => error)
    if (silent instanceof Error) return [...faults, `a session does not count: ${silent.message.slice(0, 300)}`]
    const renewed = await post(writer, 'token', silent, strict)
    expect('an access token is not active', await isActive(reader, renewed.body.access_token))
    const next = await post(reader, 'token', refreshForm(renewed.body.refresh_token), strict)
    expect(`a refresh token was refused: ${JSON.stringify(next.body)}`, next.status === 200)
    await post(writer, 'revocation', { token: String(next.body.refresh_token) }, strict)
    expect('a revoked access token is active', !(await isActive(reader, next.body.access_token)))
    const after = await post(reader, 'token', refreshForm(next.body.refresh_token), strict)
    expect('a revoked refresh token was accepted', after.body.error === 'invalid_grant')
    return faults
  }

/** Runs a command of one version. Resolves to what it prints, or to why it failed. */
function command([program, ...parameters]: Service['commands'][number], ...words: readonly string[]): Promise<string> {
  // The program of the tests ends with this one.
  const env = { ...process.env, GRANTRY_TEST_PARENT: String(process.pid) }
  return promisify(execFile)(process.execPath, [program, ...words, ...parameters, '--json'], { env })
    .then(({ stdout }) => stdout)
    .catch((error: Error & { readonly stderr?: string }) => `failed: ${error.stderr || error.message}`)
}

/** Both versions rotate at the same moment; then every server issues tokens, which every other one accepts. */
const rotation: Check = async (service, round) => {
  const faults: string[] = []
  const { commands } = service
  const listed = () => Promise.all(commands.map((version) => command(version, 'keys', 'list')))
  const rotate = (version: (typeof commands)[number]) => command(version, 'keys', 'rotate', '--force')
  const [before] = await listed()
  const rotated = await Promise.all(commands.map(rotate))
  for (const [index, version] of commands.entries()) {
    // One of two rotations at the same moment can fail, but not a rotation alone.
    const output = rotated[index]?.startsWith('failed') ? await rotate(version) : ''
    if (output.startsWith('failed')) faults.push(`a version did not rotate: ${output}`)
  }
  const [older, newer] = await listed()
  if (older?.startsWith('failed') || newer?.startsWith('failed')) faults.push(`keys are not listed: ${older}, ${newer}`)
  if (older === before) faults.push('no key changed')
  if (older !== newer) faults.push(`the versions list different keys: ${older} and ${newer}`)
  const origins = alternating(service)
  const issued = await Promise.all(origins.map((origin) => post(origin, 'token', byItself, retried)))
  for (const [index, { body }] of issued.entries()) {
    const verifier = origins[(index + 1 + (round % (origins.length - 1))) % origins.length] ?? ''
    const token = String(body.access_token)
    if (!(await isActive(verifier, token))) faults.push('a JWT is not active at another server')
    const jwks = (await (await fetch(`${verifier}/.well-known/jwks`)).json()) as JSONWebKeySet
    const verified = await jwtVerify(token, createLocalJWKSet(jwks)).catch((error: Error) => error)
    if (verified instanceof Error) faults.push(`the keys of another server do not verify a JWT: ${verified.message}`)
  }
  return faults
}

/** A client that one version adds, and the other one removes. */
const entries: Check = async ({ commands, older, newer }, round) => {
  const [adding, removing] = round % 2 === 0 ? commands : [...commands].reverse()
  if (adding === undefined || removing === undefined) throw new Error('there are two versions')
  const id = `added-${round}`
  const added = await command(adding, 'clients', 'add', id, '--grant', 'client_credentials', '--scope', 'api1')
  const secret = /"secret": *"([^"]+)"/u.exec(added)?.[1]
  if (secret === undefined) return [`a client could not be added: ${added}`]
  const ask = () => Promise.all([...older, ...newer].map((origin) => post(origin, 'token', byItself, [id, secret])))
  const before = await ask()
  const removed = await command(removing, 'clients', 'remove', id)
  const after = await ask()
  return [
    ...(before.every(({ status }) => status === 200) ? [] : [`a server does not know it: ${refusals(before)}`]),
    ...(after.every(({ status }) => status === 401)
      ? []
      : [`it was not removed everywhere: ${after.map(({ status }) => status)} ${refusals(after)} ${removed}`]),
  ]
}

/** What must hold while two versions use one store. */
export const checks: Readonly<Record<string, Check>> = {
  'a code is redeemed once': code,
  'a refresh token is used once': refreshOnce,
  'a refresh can be repeated': refreshAgain,
  'the newer reads the older': crossing('older', 'newer'),
  'the older reads the newer': crossing('newer', 'older'),
  'keys rotate': rotation,
  'entries change': entries,
}
