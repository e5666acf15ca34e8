import { beforeAll, describe, test } from 'vitest'
import { cases } from './cases.ts'
import { type ContractProvider, contractProvider } from './provider.ts'
import { runCase } from './run-case.ts'
import { requestOf } from './wire-request.ts'

// Runs the cases without a server, except those that a Request cannot express.

describe('provider.fetch in this process', () => {
  let provider: ContractProvider
  beforeAll(async () => {
    provider = await contractProvider()
  })

  for (const contractCase of cases.filter(({ wireOnly }) => !wireOnly)) {
    test(contractCase.name, () =>
      runCase(contractCase, async (request) => {
        const response = await provider.fetch(requestOf(request))
        // The names are unique, except `set-cookie`.
        const headers = new Map([...response.headers.keys()].map((name) => [name, response.headers.get(name) ?? '']))
        return { status: response.status, headers, body: await response.text() }
      }),
    )
  }
})
