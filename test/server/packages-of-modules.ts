import * as core from '@grantry/core'
import * as v from 'valibot'
import { afterAll, beforeAll } from 'vitest'
import { bundledModules } from '../../packages/server/src/configuration/import-module.ts'

/** The modules that the tests of this file write import the sources of these packages, so they need no build. */
export function sharePackagesWithModules(): void {
  beforeAll(() => void bundledModules.set('@grantry/core', core).set('valibot', v))
  afterAll(() => bundledModules.clear())
}
