import { generateKeyPairSync, type JsonWebKey } from 'node:crypto'
import { createInterface } from 'node:readline'
import type { OperationName } from './operations.ts'

/** The settings with which a server starts. */
export interface Setting {
  readonly operation: OperationName
  /** Private key that signs the JWTs of the operation. */
  readonly signingKey: JsonWebKey & { readonly kid: string; readonly alg: 'ES256' | 'RS256' }
  /** The store of the servers on Redis or PostgreSQL. */
  readonly storeUrl?: string
  /** A table of that PostgreSQL with the users, which are in memory by default. */
  readonly usersTable?: string
  /** Seconds. Default: that of a client. Only Grantry has a retry window. */
  readonly retryWindow?: number
}

/** Issues tokens or codes for an operation to present. */
export type Issue = (operation: OperationName, count: number) => Promise<readonly string[]>

/** Asks a server for tokens: one line on its input, to which it responds with one line. */
export interface IssueOrder {
  readonly operation: OperationName
  readonly count: number
}

/** The first line that a server prints, once it listens. */
export interface Ready {
  readonly port: number
}

/** The line that a server prints for an order. */
export interface Issued {
  readonly tokens: readonly string[]
}

export function newSetting(
  operation: OperationName,
  more: Pick<Setting, 'storeUrl' | 'retryWindow' | 'usersTable'> = {},
): Setting {
  const rsa = operation === 'client-credentials-rs256'
  const { privateKey } = rsa
    ? generateKeyPairSync('rsa', { modulusLength: 2048 })
    : generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const signingKey = { ...privateKey.export({ format: 'jwk' }), kid: 'bench', alg: rsa ? 'RS256' : 'ES256' } as const
  return { operation, signingKey, ...more }
}

/** Returns the public part of the key of a setting. */
export function publicKeyOf({ signingKey }: Setting): JsonWebKey {
  const { d, p, q, dp, dq, qi, ...publicKey } = signingKey
  return publicKey
}

/** Returns the settings of this process. */
export const readSetting = (): Setting => JSON.parse(process.env.BENCH_SETTING ?? '') as Setting

const print = (line: Ready | Issued): void => {
  process.stdout.write(`${JSON.stringify(line)}\n`)
}

/** Reports that the server listens, then issues tokens on order. */
export function reportReady(port: number, issue: Issue = async () => []): void {
  print({ port })
  const orders = createInterface({ input: process.stdin })
  orders.on('line', (line) => {
    const { operation, count } = JSON.parse(line) as IssueOrder
    // A rejection ends the process, which the benchmark reports with the log.
    void issue(operation, count).then((tokens) => print({ tokens }))
  })
  // The benchmark has ended or was killed.
  orders.on('close', () => process.exit())
}

/** The maximum number of tokens that are issued concurrently. */
const concurrency = 64

/** Issues tokens with a function that issues one. */
export async function issueMany(count: number, issueOne: () => Promise<string>): Promise<readonly string[]> {
  const tokens: string[] = []
  while (tokens.length < count) {
    const length = Math.min(concurrency, count - tokens.length)
    tokens.push(...(await Promise.all(Array.from({ length }, issueOne))))
  }
  return tokens
}
