import tseslint from 'typescript-eslint';

/** What a rule of the project decides on must come in as an argument (see test/architecture for the whole of it). */
const noClock = ['error', { object: 'Date', property: 'now', message: 'Take `now` (epoch milliseconds) as an argument.' }];

export default tseslint.config(
  { ignores: ['node_modules/', '.barista/', 'prisma/generated/', 'coverage/'] },
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.recommended],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      '@typescript-eslint/await-thenable': 'error',
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/only-throw-error': 'error',
      '@typescript-eslint/return-await': ['error', 'error-handling-correctness-only'],
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/consistent-type-imports': ['error', { disallowTypeAnnotations: false }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      eqeqeq: ['error', 'always', { null: 'ignore' }],
    },
  },
  {
    files: ['workflows/{room,barista,delivery}/**/*.ts'],
    rules: { 'no-restricted-properties': noClock },
  },
  {
    files: ['workflows/**/*.ts'],
    rules: {
      '@typescript-eslint/no-restricted-imports': [
        'error',
        {
          patterns: [
            { group: ['node:*', 'zod', 'zod/*', '**/prisma/**', '@prisma/*'], message: 'Workflow code is deterministic and light.' },
            { group: ['**/activities/**'], allowTypeImports: true, message: 'Workflows import activities by type only.' },
            { group: ['**/worker/**', '**/cli/**', '**/mcp-server/**', '**/stack/**'], message: 'Imports go one way.' },
          ],
        },
      ],
    },
  },
  {
    files: ['{activities,mcp-server,prisma}/**/*.ts'],
    rules: {
      '@typescript-eslint/no-restricted-imports': [
        'error',
        { patterns: [{ group: ['**/worker/**', '**/cli/**'], message: 'Imports go one way.' }] },
      ],
    },
  },
);
