import type { TestResponse } from '@grantry/testing'
import { basicOf } from './leaks.ts'

/** One request, for comparison with the metrics. */
export interface RecordedRequest {
  readonly endpoint: string
  readonly method: string
  readonly status: number
}

/** Sends requests to a server, and records every request and every secret that is sent or received. */
export interface RecordingClient {
  readonly requests: RecordedRequest[]
  readonly secrets: Set<string>
  readonly tokens: string[]
  send(endpoint: string, path: string, init?: RequestInit): Promise<TestResponse>
  post(
    endpoint: string,
    path: string,
    form: Readonly<Record<string, string>>,
    as?: readonly [string, string],
    headers?: Readonly<Record<string, string>>,
  ): Promise<TestResponse>
}

const secretFields = ['password', 'client_secret', 'code', 'code_verifier', 'refresh_token', 'token'] as const
const issuedFields = ['access_token', 'refresh_token', 'id_token', 'code'] as const

export function createRecordingClient(address: string): RecordingClient {
  const requests: RecordedRequest[] = []
  const secrets = new Set<string>()
  const tokens: string[] = []
  async function send(endpoint: string, path: string, init: RequestInit = {}): Promise<TestResponse> {
    const response = await fetch(address + path, init)
    const text = await response.text()
    requests.push({ endpoint, method: init.method ?? 'GET', status: response.status })
    const body = response.headers.get('content-type') === 'application/json' && text !== '' ? JSON.parse(text) : text
    for (const name of issuedFields) {
      if (typeof body[name] !== 'string') continue
      secrets.add(body[name])
      if (name !== 'code') tokens.push(name)
    }
    return { status: response.status, headers: response.headers, body }
  }
  return {
    requests,
    secrets,
    tokens,
    send,
    post(endpoint, path, form, as, headers = {}) {
      for (const name of secretFields) if (form[name] !== undefined && form[name] !== '') secrets.add(form[name])
      const authorization: Record<string, string> = {}
      if (as !== undefined) {
        secrets.add(as[1])
        secrets.add(basicOf(...as))
        authorization.authorization = `Basic ${basicOf(...as)}`
      }
      return send(endpoint, path, {
        method: 'POST',
        headers: { ...authorization, ...headers },
        body: new URLSearchParams(form),
      })
    },
  }
}
