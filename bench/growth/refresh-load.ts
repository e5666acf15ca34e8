import type { Service } from './service.ts'

/** Milliseconds, and requests per second. */
export interface LoadFigures {
  readonly p50: number
  readonly p99: number
  readonly perSecond: number
}

/** Requests at the same time. */
export const concurrency = 16

/** Gives each request a refresh token. */
export interface Tokens {
  next(): string
  /** Takes back the token of a response. */
  add(token: string): void
}

/** Tokens that each response replaces. */
export async function rotatedTokens(service: Service): Promise<Tokens> {
  const tokens = await Promise.all(Array.from({ length: concurrency }, service.login))
  return { next: () => tokens.shift() ?? '', add: (token) => void tokens.push(token) }
}

/** Redeems refresh tokens for some seconds. */
export async function loadWithRefreshes(service: Service, tokens: Tokens, seconds: number): Promise<LoadFigures> {
  const durations: number[] = []
  const start = performance.now()
  async function client(): Promise<void> {
    while (performance.now() - start < seconds * 1000) {
      const token = tokens.next()
      const sent = performance.now()
      const next = await service.refresh(token)
      durations.push(performance.now() - sent)
      tokens.add(next)
    }
  }
  await Promise.all(Array.from({ length: concurrency }, client))
  const sorted = durations.sort((first, second) => first - second)
  const quantile = (part: number): number => sorted[Math.floor(sorted.length * part)] ?? Number.NaN
  return {
    p50: quantile(0.5),
    p99: quantile(0.99),
    perSecond: (sorted.length / (performance.now() - start)) * 1000,
  }
}
