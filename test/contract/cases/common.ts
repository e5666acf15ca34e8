import { expect } from 'vitest'
import type { Expected } from '../contract-case.ts'
import type { WireRequest } from '../wire-request.ts'

export const formType = 'application/x-www-form-urlencoded'

/** A POST of the form text, unchanged, with an optional Authorization header. */
export const post = (target: string, body: string, authorization?: string): WireRequest => ({
  method: 'POST',
  target,
  headers: [
    ['Content-Type', formType],
    ...(authorization === undefined ? [] : [['Authorization', authorization] as const]),
  ],
  body,
})

export const form = (target: string, fields: Readonly<Record<string, string>>, authorization?: string): WireRequest =>
  post(target, new URLSearchParams(fields).toString(), authorization)

export const get = (target: string, ...headers: readonly (readonly [string, string])[]): WireRequest => ({
  target,
  headers,
})

export const bearer = (token: string | undefined): readonly [string, string] => ['Authorization', `Bearer ${token}`]

/** The headers of every response of a `/connect/` endpoint: wire contract, section 1. */
export const common = {
  'content-type': 'application/json',
  'cache-control': 'no-store',
  pragma: 'no-cache',
  'x-content-type-options': 'nosniff',
  'content-encoding': undefined,
  'x-powered-by': undefined,
  'set-cookie': undefined,
} as const

export const success = { status: 200, headers: common } as const

/** An OAuth error with exactly these two members. */
export const refused = (status: number, error: string, headers: Expected['headers'] = {}): Expected => ({
  status,
  headers: { ...common, ...headers },
  json: { error, error_description: expect.stringMatching(/^[\x20-\x21\x23-\x5B\x5D-\x7E]+$/u) },
})

export const opaque = expect.stringMatching(/^[\w-]{43}$/u)
export const jwt = expect.stringMatching(/^eyJ[\w-]+\.[\w-]+\.[\w-]+$/u)
