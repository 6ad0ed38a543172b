#!/usr/bin/env node
import { run } from './setup.mjs';

await run('cli/main.ts', process.argv.slice(2));
