import type { Runtime, SigningAlgorithm } from '../runtime.ts'
import { generateKey, openFixedRing } from './import-key.ts'
import type { JwkSet, KeyRing } from './key-ring.ts'

/**
 * Milliseconds after which a generation no longer blocks a new one: when a Worker ends a request, work that the request
 * started may never settle.
 */
const abandonedAfter = 30_000

interface Late {
  readonly ring: KeyRing
  readonly jwks: JwkSet
}

/** Generates the second key when it is first needed, once for all requests that wait for it. */
function createLateKey(first: KeyRing, algorithm: SigningAlgorithm, runtime: Runtime) {
  let known: Late | undefined
  let inFlight: { readonly since: number; readonly promise: Promise<Late> } | undefined

  async function generate(): Promise<Late> {
    const ring = await openFixedRing([await generateKey(algorithm)], runtime)
    const [before, added] = await Promise.all([first.jwks(), ring.jwks()])
    // An abandoned generation may end late. Its key must not replace one that has signed.
    known ??= { ring, jwks: { keys: [...before.keys, ...added.keys] } }
    return known
  }

  function start(since: number): Promise<Late> {
    const started = { since, promise: generate() }
    inFlight = started
    const done = (): void => {
      if (inFlight === started) inFlight = undefined
    }
    started.promise.then(done, done)
    return started.promise
  }

  return {
    known: () => known?.ring,
    async get(): Promise<Late> {
      if (known !== undefined) return known
      const now = runtime.elapsed()
      if (inFlight !== undefined && now - inFlight.since < abandonedAfter) return inFlight.promise
      return start(now)
    },
  }
}

/**
 * Opens a ring with one new key per algorithm. The second key is generated when it is first needed, because generating
 * an RSA key takes longer than everything else at startup. Reading the JWK set waits for it, so that the set
 * contains a key for each algorithm in discovery.
 *
 * @throws TypeError when the algorithm is unknown.
 */
export async function openGeneratedRing(
  [algorithm, second]: readonly [SigningAlgorithm, SigningAlgorithm?],
  runtime: Runtime,
): Promise<KeyRing> {
  const first = await openFixedRing([await generateKey(algorithm)], runtime)
  if (second === undefined) return first
  const late = createLateKey(first, second, runtime)
  return {
    ...first,
    algorithms: [algorithm, second],
    signer: async (wanted) => (wanted === second ? (await late.get()).ring.signer() : first.signer(wanted)),
    // Before the key exists, it has signed nothing.
    find: async (kid) => (await first.find(kid)) ?? late.known()?.find(kid),
    jwks: async () => (await late.get()).jwks,
    operator: Object.freeze({
      ...first.operator,
      list: async () => [...(await first.operator.list()), ...(await (await late.get()).ring.operator.list())],
    }),
  }
}
