import type { Answer } from '@grantry/core/testing'
import { basicOf } from './leaks.ts'

/** One request, for comparison with the metrics. */
export interface Asked {
  readonly endpoint: string
  readonly method: string
  readonly status: number
}

/** Sends requests to a server, and records every request and every secret that is sent or received. */
export interface Asker {
  readonly asked: Asked[]
  readonly secrets: Set<string>
  readonly tokens: string[]
  send(endpoint: string, path: string, init?: RequestInit): Promise<Answer>
  post(
    endpoint: string,
    path: string,
    form: Readonly<Record<string, string>>,
    as?: readonly [string, string],
    headers?: Readonly<Record<string, string>>,
  ): Promise<Answer>
}

const secretFields = ['password', 'client_secret', 'code', 'code_verifier', 'refresh_token', 'token'] as const
const answered = ['access_token', 'refresh_token', 'id_token', 'code'] as const

export function createAsker(address: string): Asker {
  const asked: Asked[] = []
  const secrets = new Set<string>()
  const tokens: string[] = []
  async function send(endpoint: string, path: string, init: RequestInit = {}): Promise<Answer> {
    const response = await fetch(address + path, init)
    const text = await response.text()
    asked.push({ endpoint, method: init.method ?? 'GET', status: response.status })
    const body = response.headers.get('content-type') === 'application/json' && text !== '' ? JSON.parse(text) : text
    for (const name of answered) {
      if (typeof body[name] !== 'string') continue
      secrets.add(body[name])
      if (name !== 'code') tokens.push(name)
    }
    return { status: response.status, headers: response.headers, body }
  }
  return {
    asked,
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
