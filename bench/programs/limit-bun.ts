import { readSetting, reportReady } from '../setting.ts'
import { createLimit } from './limit.ts'
import { limitFetch } from './limit-fetch.ts'
import { bunServe } from './runtimes.ts'

const limit = createLimit(readSetting())
reportReady(bunServe(limitFetch(limit)), limit.issue)
