// Compares the faster functions of a runtime with those of web standards, on the runtime that runs this. Prints the
// differences, and the number of comparisons.
import { type Runtime, type SignatureKey, type SigningAlgorithm, webRuntime } from '@grantry/core'

type Bytes = Uint8Array<ArrayBuffer>

const generation = {
  ES256: { name: 'ECDSA', namedCurve: 'P-256' },
  RS256: { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256', modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]) },
  PS256: { name: 'RSA-PSS', hash: 'SHA-256', modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]) },
  EdDSA: { name: 'Ed25519' },
} as const satisfies Record<SigningAlgorithm, object>

const material = ['kty', 'crv', 'x', 'y', 'n', 'e', 'd', 'p', 'q', 'dp', 'dq', 'qi'] as const

async function newJwk(algorithm: SigningAlgorithm): Promise<Record<string, string>> {
  const pair = (await crypto.subtle.generateKey(generation[algorithm], true, ['sign', 'verify'])) as CryptoKeyPair
  const jwk = await crypto.subtle.exportKey('jwk', pair.privateKey)
  return Object.fromEntries(material.flatMap((name) => (typeof jwk[name] === 'string' ? [[name, jwk[name]]] : [])))
}

const publicPart = ({ kty = '', crv, x, y, n, e }: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries({ kty, crv, x, y, n, e }).filter(([, value]) => value !== undefined)) as Record<
    string,
    string
  >

const text = (bytes: Uint8Array): string => [...bytes].join(' ')
const bytes = (length: number): Bytes => webRuntime.randomBytes(length)
const flipped = (data: Uint8Array, at: number): Bytes =>
  Uint8Array.from(data, (byte, index) => (index === at ? byte ^ 1 : byte))

/** The outcome: a value, or a rejection. */
async function outcomeOf(work: () => unknown): Promise<string> {
  try {
    const result = await work()
    return result instanceof Uint8Array ? text(result) : String(result)
  } catch {
    return 'refused'
  }
}

export async function compare(native: Partial<Runtime>): Promise<void> {
  const differences: string[] = []
  let compared = 0
  const both = async (what: string, work: (runtime: Runtime) => unknown): Promise<void> => {
    const [web, faster] = [
      await outcomeOf(() => work(webRuntime)),
      await outcomeOf(() => work({ ...webRuntime, ...native })),
    ]
    compared += 1
    if (web !== faster) differences.push(`${what}: ${web.slice(0, 100)} | ${faster.slice(0, 100)}`)
  }
  const is = (what: string, actual: unknown, expected: unknown): void => {
    compared += 1
    if (actual !== expected) differences.push(`${what}: ${String(actual)}`)
  }

  for (let length = 0; length < 200; length += 1) {
    const data = bytes(length)
    for (const name of ['sha256', 'sha512', 'base64url'] as const)
      await both(`${name} of ${length}`, (r) => r[name](data))
    // A view into a larger buffer is read from its own start.
    const view = bytes(length + 7).subarray(3, 3 + length)
    for (const name of ['sha256', 'base64url'] as const) await both(`${name} of a view`, (r) => r[name](view))
  }
  for (const text of ['', 'a', 'ü', '\u{1f600}', '\ud800', 'a\udc00b', '\u0000', '\ufeff', 'x'.repeat(10_000)]) {
    await both(`sha256Hex of ${JSON.stringify(text.slice(0, 9))}`, (r) => r.sha256Hex(text))
    await both(`base64url of ${JSON.stringify(text.slice(0, 9))}`, (r) => r.base64url(text))
  }

  for (const freeze of [Object.freeze, (headers: Record<string, string>) => headers]) {
    const headers = freeze({ 'content-type': 'application/json', vary: 'Origin' })
    for (const [status, body] of [
      [200, '{"ü":1}'],
      [204, null],
    ] as const) {
      await both(`a response with ${status}`, async (r) => {
        const changed = new r.Response(body, { status, headers })
        changed.headers.set('vary', 'Accept')
        changed.headers.append('x-more', '1')
        const response = new r.Response(body, { status, headers })
        const { ok, bodyUsed } = response
        const parts = [...response.headers].sort(([left], [right]) => (left < right ? -1 : 1))
        return JSON.stringify([
          response.status,
          ok,
          bodyUsed,
          parts,
          [...changed.headers].length,
          await response.text(),
        ])
      })
    }
  }

  const [key, iv] = [bytes(32), bytes(12)]
  for (const length of [0, 1, 15, 16, 17, 1000]) {
    const data = bytes(length)
    await both(`encrypt ${length}`, (r) => r.encrypt(key, iv, data))
    const sealed = new Uint8Array(await webRuntime.encrypt(key, iv, data))
    await both(`decrypt ${length}`, (r) => r.decrypt(key, iv, sealed))
    for (const at of [0, length, length + 15])
      await both('decrypt what was changed', (r) => r.decrypt(key, iv, flipped(sealed, at)))
    await both('decrypt with another key', (r) => r.decrypt(flipped(key, 3), iv, sealed))
    await both('decrypt with another iv', (r) => r.decrypt(key, flipped(iv, 3), sealed))
    await both('decrypt a part', (r) => r.decrypt(key, iv, sealed.slice(0, -1)))
  }
  for (const length of [0, 1, 15]) await both('decrypt less than a tag', (r) => r.decrypt(key, iv, bytes(length)))

  for (const algorithm of Object.keys(generation) as SigningAlgorithm[]) {
    const jwk = await newJwk(algorithm)
    const keyOf = async (r: Runtime, from: Record<string, string>): Promise<SignatureKey> =>
      r.importKey(from, algorithm)
    const [web, faster] = [await keyOf(webRuntime, jwk), await keyOf({ ...webRuntime, ...native }, jwk)]
    for (const length of [0, 1, 500]) {
      const data = bytes(length)
      for (const [signer, verifier] of [
        [web, faster],
        [faster, web],
        [faster, faster],
      ] as const) {
        const signature = new Uint8Array(await signer.sign(data))
        is(`${algorithm}: one verifies what the other signs`, await verifier.verify(data, signature), true)
        is(`${algorithm}: other data`, await verifier.verify(bytes(length + 1), signature), false)
        for (const at of [0, signature.length - 1]) {
          is(
            `${algorithm}: a changed signature`,
            await outcomeOf(() => verifier.verify(data, flipped(signature, at))),
            'false',
          )
        }
      }
    }
    for (const length of [0, 1, 63, 64, 65, 70, 256, 512]) {
      const [data, nonsense] = [bytes(20), bytes(length)]
      await both(`${algorithm}: a signature of ${length}`, async (r) => (await keyOf(r, jwk)).verify(data, nonsense))
    }
    await both(`${algorithm}: a public key signs`, async (r) => (await keyOf(r, publicPart(jwk))).sign(bytes(1)))
    for (const name of Object.keys(publicPart(jwk))) {
      const { [name]: _, ...incomplete } = jwk
      await both(`${algorithm}: without ${name}`, async (r) => typeof (await keyOf(r, incomplete)))
    }
  }
  process.stdout.write(JSON.stringify({ differences, compared }))
}
