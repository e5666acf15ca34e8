import { defineGrant, type GrantResult } from '@grantry/core'
import * as v from 'valibot'

const noParameters = v.object({})

/** Defines a grant without parameters. What each grant must have stands here, and not in each test. */
export const testGrant = <R extends GrantResult>(
  grant: Omit<Parameters<typeof defineGrant<typeof noParameters, R>>[0], 'params'>,
) => defineGrant<typeof noParameters, R>({ ...grant, params: noParameters })
