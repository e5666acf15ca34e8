/**
 * Attack: a caller who knows only the id of a public client sends proofs of keys with credentials that do not exist, to
 * fill the storage with proofs that are used up. Or a thief repeats a request with its proof, to spend a code of the
 * client, to end its family, or to get tokens twice.
 *
 * RFC 9449 section 11.1: a proof is accepted once. It is used up with what the request spends, not before.
 */
import { mapDriver } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { holder, password, refreshOf, request, start } from '../dpop/parties.ts'
import { parUrl, pushed, setUp } from '../pushed-authorization/parties.ts'
import { proof as pkce, redirectUri, spaClientId, web } from '../support/fixture.ts'
import { commitPaths, withLatency } from '../support/latency.ts'

const codeForm = (code: string) => ({ grant_type: 'authorization_code', code, redirect_uri: redirectUri })
const spaForm = (code: string) => ({ ...codeForm(code), client_id: spaClientId, code_verifier: pkce.verifier })
/** The first kind is the attack as it was found; the others take the same path. */
const [most, proofs] = [2000, 100]

/** The items that are written once the provider has started. */
async function counted() {
  const items = new Map<string, string>()
  const f = await start({}, { storage: mapDriver(items) })
  await request(f, undefined, spaForm('none'))
  const before = new Set(items.keys())
  return { f, left: () => [...items.keys()].filter((key) => !before.has(key)) }
}

describe('proofs of a stranger leave no record', () => {
  test.each<[number, string, (at: number) => Readonly<Record<string, string>>]>([
    [most, 'made-up codes', (at) => spaForm(`code-${at}`)],
    [proofs, 'made-up refresh tokens', (at) => ({ ...refreshOf(`token-${at}`), client_id: spaClientId })],
    [proofs, 'a grant type that the client may not use', () => ({ ...password, client_id: spaClientId })],
    [proofs, 'a grant type that does not exist', () => ({ grant_type: 'none', client_id: spaClientId })],
  ])('%i with %s', async (count, _, formOf) => {
    const [{ f, left }, stranger] = [await counted(), await holder()]
    for (let at = 0; at < count; at += 1) {
      const { status } = await request(f, await stranger.prove(), formOf(at))
      expect(status).toBe(400)
    }
    expect(left()).toEqual([])
  })

  test('with requests that cannot be pushed', async () => {
    const items = new Map<string, string>()
    const [f, stranger] = [await setUp({}, undefined, { storage: mapDriver(items) }), await holder()]
    const form = { ...pushed, client_id: 'spa', redirect_uri: 'https://evil.example/cb' }
    await f.push(form, 'anyone')
    const before = items.size
    for (let at = 0; at < proofs; at += 1) {
      const { status } = await f.push(form, 'anyone', { dpop: await stranger.prove({ htu: parUrl }) })
      expect(status).toBe(400)
    }
    expect(items.size).toBe(before)
  })
})

test('a proof costs no further call of the storage', async () => {
  const calls: string[] = []
  const storage = Object.fromEntries(
    Object.entries(mapDriver()).map(([name, member]) => [
      name,
      typeof member !== 'function'
        ? member
        : (...args: readonly never[]) => {
            calls.push(name)
            return (member as (...args: readonly never[]) => unknown)(...args)
          },
    ]),
  ) as unknown as ReturnType<typeof mapDriver>
  const [f, mine] = [await start({}, { storage }), await holder()]
  const costOf = async (proof: string | undefined) => {
    const code = await f.code()
    calls.length = 0
    expect((await request(f, proof, codeForm(code))).status).toBe(200)
    return [...calls]
  }
  await costOf(undefined)
  expect(await costOf(await mine.prove())).toEqual(await costOf(undefined))
})

describe.each(commitPaths)('a proof that was used, with a commit $path', ({ prepare }) => {
  const setUpTwo = async () => {
    const storage = withLatency(prepare(mapDriver()))
    return [await start({}, { storage }), await start({}, { storage })] as const
  }

  test('15.4 spends no other code: the client redeems it with a new proof', async () => {
    const [[f], mine] = [await setUpTwo(), await holder()]
    const proof = await mine.prove()
    expect((await request(f, proof, codeForm(await f.code()))).status).toBe(200)
    const code = await f.code()
    const replayed = await request(f, proof, codeForm(code))
    expect([replayed.status, replayed.body.error, replayed.reason]).toEqual([
      400,
      'invalid_dpop_proof',
      'plugin:dpop:replayed',
    ])
    expect((await request(f, await mine.prove(), codeForm(code))).status).toBe(200)
  })

  test('15.4 ends no family: the repeated request of a client is refused, and its tokens stay', async () => {
    const [[f], mine] = [await setUpTwo(), await holder()]
    const [proof, code] = [await mine.prove(), await f.code()]
    const { body } = await request(f, proof, codeForm(code))
    expect((await request(f, proof, codeForm(code))).body.error).toBe('invalid_dpop_proof')
    const [again, form] = [await mine.prove(), refreshOf(String(body.refresh_token))]
    const refreshed = await request(f, again, form)
    expect(refreshed.status).toBe(200)
    expect((await request(f, again, form)).body.error).toBe('invalid_dpop_proof')
    expect((await request(f, await mine.prove(), refreshOf(String(refreshed.body.refresh_token)))).status).toBe(200)
  })

  test('15.4 gets no second response of a refresh inside the retry window', async () => {
    const [[f, another], mine] = [await setUpTwo(), await holder()]
    const { body } = await request(f, await mine.prove(), codeForm(await f.code()))
    const form = refreshOf(String(body.refresh_token))
    const first = await request(f, await mine.prove(), form)
    const proof = await mine.prove()
    const retried = await request(another, proof, form)
    expect(retried.body.refresh_token).toBe(first.body.refresh_token)
    expect((await request(f, proof, form)).body.error).toBe('invalid_dpop_proof')
  })

  test('15.4 of ten requests with ten codes in two processes, one wins, and the other codes stay', async () => {
    const [both, mine] = [await setUpTwo(), await holder()]
    const processOf = (at: number) => both[at % 2] as (typeof both)[0]
    const proof = await mine.prove()
    const codes = await Promise.all(Array.from({ length: 10 }, (_, at) => processOf(at).code()))
    const sent = await Promise.all(codes.map((code, at) => request(processOf(at), proof, codeForm(code))))
    expect(sent.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(sent.filter(({ body }) => body.error === 'invalid_dpop_proof')).toHaveLength(9)
    const rest = codes.filter((_, at) => sent[at]?.status !== 200)
    for (const code of rest) expect((await request(both[0], await mine.prove(), codeForm(code))).status).toBe(200)
  })

  test('15.4 of ten requests for tokens of the client itself, one wins', async () => {
    const [both, mine] = [await setUpTwo(), await holder()]
    const proof = await mine.prove()
    const form = { grant_type: 'client_credentials', scope: 'api1' }
    const sent = await Promise.all(
      Array.from({ length: 10 }, (_, at) => request(both[at % 2] as (typeof both)[0], proof, form, web)),
    )
    expect(sent.filter(({ status }) => status === 200)).toHaveLength(1)
  })
})
