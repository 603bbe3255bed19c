"""What tells the age of a script."""

import pytest

from envmgr.infer.clocks import of_comments, of_dockerfile, of_pins
from envmgr.infer.saved import of_saved


@pytest.mark.parametrize(
    ("comment", "day"),
    [
        ("# written 2017-03-14", "2017-03-14"),
        ("# Created on Tue Mar 14 10:22:11 2017", "2017-03-14"),
        ("# March 3rd, 2016", "2016-03-03"),
        ("# 14 Feb 2015", "2015-02-14"),
        ("# Copyright (c) 2016 Someone", "2016-12-31"),
        ('"""Copyright 2018 The Authors."""', "2018-12-31"),
    ],
)
def test_days_in_comments_and_doc_strings(comment, day):
    assert [clock.day for clock in of_comments(comment, "a.py", ())] == [day]


@pytest.mark.parametrize("comment", ["x = 'was made 2017-03-14'", "# 2017-13-45", "# call 555-2017"])
def test_what_is_no_day_is_none(comment):
    assert list(of_comments(comment, "a.py", ())) == []


@pytest.mark.parametrize(
    ("comment", "name", "version"),
    [
        ("# tested with Keras 2.0.8", "keras", "2.0.8"),
        ("# tensorflow==1.4", "tensorflow", "1.4"),
        ("# TensorFlow v1.4.0 and up", "tensorflow", "1.4.0"),
    ],
)
def test_versions_of_known_names(comment, name, version):
    found = list(of_comments(comment, "a.py", {"keras", "tensorflow"}))
    assert [(clock.name, clock.version) for clock in found] == [(name, version)]


def test_a_version_of_python_and_none_of_python_2():
    assert [clock.python for clock in of_comments("# Python 3.5\n# Python 2.7", "a.py", ())] == ["3.5"]


def test_pins_of_requirement_lines_and_not_of_their_comments():
    found = list(of_pins("numpy==1.14.0\nscipy>=1  # keras==1.0\ntheano[x] == 0.9\n", "requirements.txt"))
    assert [(clock.name, clock.version) for clock in found] == [("numpy", "1.14.0"), ("theano", "0.9")]


def test_a_dockerfile_tells_its_image_and_what_it_installs():
    text = "FROM tensorflow/tensorflow:1.4.0-py3\nRUN pip install \\\n  keras==2.0.9 h5py\n"
    found = list(of_dockerfile(text, "Dockerfile", {"tensorflow"}))
    assert [(clock.name, clock.version) for clock in found] == [("tensorflow", "1.4.0"), ("keras", "2.0.9")]
    assert next(of_dockerfile("FROM python:3.6-slim", "Dockerfile", ())).python == "3.6"


def test_a_saved_model_tells_keras_its_backend_and_a_lambda_layer():
    text = '\x89HDF \ufffd keras_version {"keras_version": "2.1.3", "backend": "theano", "class_name": "Lambda"}'
    says = [clock.says for clock in of_saved("m.h5", text)]
    assert says[:2] == ["keras_version 2.1.3", "backend theano"]
    assert "Python minor" in says[2]


def test_a_file_of_another_program_tells_nothing():
    assert list(of_saved("data.h5", "\x89HDF 1.2.3")) == []


def test_a_pickle_tells_the_scikit_learn_that_wrote_it():
    found = list(of_saved("m.pkl", "sklearn.svm\ufffd_sklearn_version\ufffdX\x06\x00\x00\x000.19.1q"))
    assert [(clock.name, clock.version) for clock in found] == [("scikit-learn", "0.19.1")]
