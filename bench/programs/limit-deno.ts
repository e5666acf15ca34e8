import { readSetting, reportReady } from '../setting.ts'
import { createLimit } from './limit.ts'
import { limitFetch } from './limit-fetch.ts'
import { denoServe } from './runtimes.ts'

const limit = createLimit(readSetting())
reportReady(denoServe(limitFetch(limit)), limit.issue)
