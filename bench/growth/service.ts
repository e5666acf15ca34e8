import { nodeRuntime } from '@grantry/adapters/node'
import type { AtomicDriver } from '@grantry/core'
import { issuer, opaqueClient, paths } from '../operations.ts'
import { grantryIssue, openGrantry } from '../programs/grantry.ts'
import { newSetting } from '../setting.ts'

/** A provider in this process, with the client of the benchmark. */
export interface Service {
  /** Returns the refresh token of a new family. */
  login(): Promise<string>
  /** Redeems a refresh token, and returns the next one. @throws Error when the response is no success */
  refresh(token: string): Promise<string>
}

const headers = {
  authorization: `Basic ${btoa(opaqueClient.join(':'))}`,
  'content-type': 'application/x-www-form-urlencoded',
}

export async function openService(storage: AtomicDriver): Promise<Service> {
  const provider = await openGrantry(newSetting('refresh'), nodeRuntime, storage)
  const issue = grantryIssue(provider)
  return {
    async login() {
      const [token = ''] = await issue('refresh', 1)
      return token
    },
    async refresh(token) {
      const body = `grant_type=refresh_token&refresh_token=${token}`
      const response = await provider.fetch(new Request(issuer + paths.token, { method: 'POST', headers, body }))
      const text = await response.text()
      if (response.status !== 200) throw new Error(`The token endpoint returned ${response.status}: ${text}`)
      return JSON.parse(text).refresh_token
    },
  }
}
