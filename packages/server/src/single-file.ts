// The entry point of `grantry.mjs`, the whole server in one file.
import * as core from '@grantry/core'
import * as valibot from 'valibot'
import { main } from './cli.ts'
import { bundledModules } from './configuration/import-module.ts'
import * as grantry from './index.ts'

bundledModules.set('grantry', grantry).set('@grantry/core', core).set('valibot', valibot)
process.exitCode = await main(process.argv.slice(2))
