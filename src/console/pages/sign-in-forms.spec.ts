import { expect, it } from '@jest/globals';
import { signInForms, stepForms } from './sign-in-forms.js';

const textOf = (registrationOpen: boolean) =>
  signInForms(stepForms('/cli/approve/1'), { googleEnabled: false, registrationOpen }).text;

it('registration is open → a registration form', () => {
  expect(textOf(true)).toContain('Register instead');
  expect(textOf(true)).toContain('name="step" value="register"');
});

it('registration is closed → no form, and whom to ask', () => {
  expect(textOf(false)).not.toContain('value="register"');
  expect(textOf(false)).toContain('Registration is closed.');
});
