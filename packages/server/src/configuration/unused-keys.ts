import type { KeySource, SigningAlgorithm } from '@grantry/core'

async function refuse(): Promise<never> {
  throw new Error('A provider that only checks has no keys')
}

/**
 * Returns keys of the same algorithms that cannot be used, instead of those that would be generated for an empty storage: a
 * check reads only their algorithms, and generating RSA keys would take most of its time. Keys of the configuration
 * are returned as they are, and are checked.
 */
export function unusedKeys(keys: KeySource): KeySource {
  if (!('stored' in keys)) return keys
  const { algorithms } = keys.stored
  return {
    generated: { algorithm: undefined },
    open: async (byDefault: readonly [SigningAlgorithm, ...SigningAlgorithm[]]) => ({
      algorithms: algorithms ?? byDefault,
      signer: refuse,
      sealer: refuse,
      retrySecrets: [],
      find: refuse,
      jwks: refuse,
      operator: { list: refuse, rotate: refuse, retire: refuse },
      settled: async () => {},
    }),
  }
}
