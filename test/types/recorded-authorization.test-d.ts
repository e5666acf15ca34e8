import { describe, test } from 'vitest'
import { recordedAuthorization } from '../../packages/core/src/records/authorization.ts'

type Members = Parameters<typeof recordedAuthorization>[0]

describe('the record of an authorization', () => {
  test('is made from every member: a new one that a grant forgets would be lost with its refresh token', () => {
    const { nonce, ...others } = {} as Members
    recordedAuthorization({ ...others, nonce })
    // @ts-expect-error no nonce
    recordedAuthorization(others)
    const { act, ...withoutActor } = {} as Members
    recordedAuthorization({ ...withoutActor, act: undefined })
    // @ts-expect-error no actor
    recordedAuthorization(withoutActor)
  })
})
