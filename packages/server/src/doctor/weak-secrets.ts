import { hash } from 'node:crypto'

const wellKnown = [
  '',
  'secret',
  'password',
  'changeme',
  'change-me',
  'change_me',
  'demo',
  'demo-secret',
  'api1-secret',
  'api2-secret',
  'web-secret',
  'test',
  'test-secret',
  'client-secret',
  'client_secret',
  'clientsecret',
  'supersecret',
  'super-secret',
  'topsecret',
  'admin',
  'default',
  'example',
  'letmein',
  'qwerty',
  'abc123',
  'password1',
  'passw0rd',
  'p@ssw0rd',
  '123456',
  '12345678',
  '123456789',
  '1234567890',
  'secret123',
  'dev',
  'development',
  'local',
  'staging',
  'hunter2',
  'correct horse battery staple',
  'foobar',
  'grantry',
  'keycloak',
  'mysecret',
  'my-secret',
  'todo',
  'xxx',
  'null',
  'undefined',
] as const

const letters = [...'abcdefghijklmnopqrstuvwxyz0123456789']

/** Yields every text of up to three lower-case letters and digits, and every number of four digits. */
function* shortSecrets(): Generator<string> {
  for (const first of letters) {
    yield first
    for (const second of letters) {
      yield first + second
      for (const third of letters) yield first + second + third
    }
  }
  for (let number = 0; number < 10_000; number += 1) yield String(number).padStart(4, '0')
}

/** Yields the secrets that an attacker who knows the names would try first. */
export function* guesses(names: readonly string[]): Generator<string> {
  yield* wellKnown
  for (const name of names) {
    yield* [
      name,
      `${name}-secret`,
      `${name}_secret`,
      `${name}secret`,
      `${name}-password`,
      `${name}123`,
      `${name}1`,
      `secret-${name}`,
    ]
  }
  yield* shortSecrets()
}

type Algorithm = 'sha256' | 'sha512'

/** Returns the hashes (lower-case hex) whose secret can be guessed. */
export function findWeakSecrets(hashes: ReadonlyMap<string, Algorithm>, names: readonly string[]): ReadonlySet<string> {
  const weak = new Set<string>()
  const algorithms = new Set(hashes.values())
  for (const guess of guesses(names)) {
    for (const algorithm of algorithms) {
      const digest = hash(algorithm, guess, 'hex')
      if (hashes.has(digest)) weak.add(digest)
    }
  }
  return weak
}
